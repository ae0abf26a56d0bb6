import { Tabs } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CodeBlock, Copy } from "@/components/copy";
import type { ClientConfig } from "@/lib/types";
import { words } from "@/words";
import { words as say } from "@/words/connect";

const PASSWORD_VARIABLE = "KAFKA_PASSWORD";

type Snippet = ClientConfig["snippets"][number];

interface ConnectCardProps {
  config: ClientConfig;
  clusterId: string;
}

/** A first program in each language, settings for others, and whom to trust. No password stands in any of them. */
export function ConnectCard({ config, clusterId }: ConnectCardProps) {
  const [usual, ...others] = config.mechanisms;
  return (
    <>
      <Tabs defaultValue={config.snippets[0]?.language ?? "java-properties"} keepMounted={false}>
        <Tabs.List mb={10}>
          {config.snippets.map((snippet) => (
            <Tabs.Tab key={snippet.language} value={snippet.language}>
              {snippet.title}
            </Tabs.Tab>
          ))}
          <Tabs.Tab value="java-properties">{say.javaProperties}</Tabs.Tab>
          {config.ca_pem && <Tabs.Tab value="ca">{say.authority}</Tabs.Tab>}
        </Tabs.List>
        {config.snippets.map((snippet) => (
          <Tabs.Panel key={snippet.language} value={snippet.language}>
            <Program snippet={snippet} />
          </Tabs.Panel>
        ))}
        <Tabs.Panel value="java-properties">
          <CodeBlock text={config.java} label={say.javaLabel} />
        </Tabs.Panel>
        {config.ca_pem && (
          <Tabs.Panel value="ca">
            <CodeBlock text={config.ca_pem} label={say.authorityLabel} />
          </Tabs.Panel>
        )}
      </Tabs>
      {config.ca_pem && (
        <p style={{ fontSize: "0.8125rem", margin: "10px 0 0" }}>
          {say.tls}{" "}
          <a
            className="ps-link"
            href={`data:application/x-pem-file;charset=utf-8,${encodeURIComponent(config.ca_pem)}`}
            download="ca.pem"
          >
            ca.pem
          </a>{" "}
          {say.tlsWhere}
        </p>
      )}
      <p className="ps-muted" style={{ fontSize: "0.8125rem", margin: "10px 0 0" }}>
        {usual && <>{say.logIn(usual, others)} </>}
        {say.password}{" "}
        <Link to="/clusters/$clusterId/access" params={{ clusterId }} className="ps-link">
          {say.aUser}
        </Link>
        {say.once}
      </p>
    </>
  );
}

function Program({ snippet }: { snippet: Snippet }) {
  const { title, text, file, install, run } = snippet;
  const isFile = snippet.language === "librdkafka";
  const note = text.includes(PASSWORD_VARIABLE)
    ? say.environment(PASSWORD_VARIABLE)
    : text.includes("<password>")
      ? say.blank
      : null;
  return (
    <>
      <CodeBlock text={text} label={isFile ? say.propertiesLabel : say.program(title)} />
      <dl className="ps-kv" style={{ marginTop: 10 }}>
        <dt>{say.saveAs}</dt>
        <dd className="ps-mono">{file}</dd>
        {install && <Command term={say.install} text={install} title={`${say.install} (${title})`} />}
        {run && <Command term={say.run} text={run} title={say.command(title)} />}
      </dl>
      {note && (
        <p className="ps-muted" style={{ fontSize: "0.8125rem", margin: "8px 0 0" }}>
          {note}
        </p>
      )}
    </>
  );
}

function Command({ term, text, title }: { term: string; text: string; title: string }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>
        <span className="ps-mono">{text}</span>{" "}
        <Copy value={text} label={`${words.common.copy} ${title.toLowerCase()}`} />
      </dd>
    </>
  );
}

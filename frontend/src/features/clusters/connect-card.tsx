import { Tabs } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "@/components/copy";
import type { ClientConfig } from "@/lib/types";

interface ConnectCardProps {
  config: ClientConfig;
  clusterId: string;
}

export function ConnectCard({ config, clusterId }: ConnectCardProps) {
  return (
    <>
      <Tabs defaultValue="properties">
        <Tabs.List mb={10}>
          <Tabs.Tab value="properties">librdkafka</Tabs.Tab>
          <Tabs.Tab value="java">Java</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
          {config.ca_pem && <Tabs.Tab value="ca">CA</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="properties">
          <CodeBlock text={config.properties} label="Client properties" />
        </Tabs.Panel>
        <Tabs.Panel value="java">
          <CodeBlock text={config.java} label="Java client properties" />
        </Tabs.Panel>
        <Tabs.Panel value="python">
          <CodeBlock text={config.python} label="Python client" />
        </Tabs.Panel>
        {config.ca_pem && (
          <Tabs.Panel value="ca">
            <CodeBlock text={config.ca_pem} label="Certificate of the cluster's authority" />
          </Tabs.Panel>
        )}
      </Tabs>
      {config.ca_pem && (
        <p style={{ fontSize: "0.8125rem", margin: "10px 0 0" }}>
          This cluster speaks TLS. Its brokers' certificates are signed by its own authority: keep{" "}
          <a
            className="ps-link"
            href={`data:application/x-pem-file;charset=utf-8,${encodeURIComponent(config.ca_pem)}`}
            download="ca.pem"
          >
            ca.pem
          </a>{" "}
          where the client finds it.
        </p>
      )}
      <p className="ps-muted" style={{ fontSize: "0.8125rem", margin: "10px 0 0" }}>
        User name and password come from{" "}
        <Link to="/clusters/$clusterId/access" params={{ clusterId }} className="ps-link">
          a user that you create
        </Link>
        ; a password is shown once.
      </p>
    </>
  );
}

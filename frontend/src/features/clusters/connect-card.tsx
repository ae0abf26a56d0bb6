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
          <Tabs.Tab value="properties">Properties</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="properties">
          <CodeBlock text={config.properties} label="Client properties" />
        </Tabs.Panel>
        <Tabs.Panel value="python">
          <CodeBlock text={config.python} label="Python client" />
        </Tabs.Panel>
      </Tabs>
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

import { Group, PasswordInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { Notice } from "@/components/notice";
import { type Mechanism, type Protocol, usesLogin, usesTls, type WayIn, type WayInSecrets } from "./way-in";

const PROTOCOLS: { value: Protocol; label: string }[] = [
  { value: "SASL_SSL", label: "SASL_SSL: TLS and a login" },
  { value: "SSL", label: "SSL: TLS, known by certificate or not at all" },
  { value: "SASL_PLAINTEXT", label: "SASL_PLAINTEXT: a login without TLS" },
  { value: "PLAINTEXT", label: "PLAINTEXT: neither" },
];
const MECHANISMS: Mechanism[] = ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN", "OAUTHBEARER"];
const PEM_PLACEHOLDER = "-----BEGIN CERTIFICATE-----";

type WayInForm = UseFormReturnType<WayIn & WayInSecrets>;

/** The fields of a way in, those of them that the chosen protocol and mechanism use. */
export function WayInFields<T extends WayIn & WayInSecrets>({ form: given }: { form: UseFormReturnType<T> }) {
  const form = given as unknown as WayInForm;
  const { security_protocol: protocol, sasl_mechanism: mechanism } = form.values;
  return (
    <Stack gap="md">
      <TextInput
        label="Bootstrap servers"
        description="Public addresses, or networks that this service's operator allows."
        placeholder="kafka-1.example.com:9094, kafka-2.example.com:9094"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("bootstrap_servers")}
      />
      <Group grow align="flex-start">
        <Select
          label="Security protocol"
          data={PROTOCOLS}
          allowDeselect={false}
          {...form.getInputProps("security_protocol")}
        />
        {usesLogin(protocol) && (
          <Select label="Mechanism" data={MECHANISMS} allowDeselect={false} {...form.getInputProps("sasl_mechanism")} />
        )}
      </Group>
      {usesLogin(protocol) && (mechanism === "OAUTHBEARER" ? <TokenFields form={form} /> : <LoginFields form={form} />)}
      {usesLogin(protocol) && !usesTls(protocol) && !mechanism.startsWith("SCRAM") && (
        <Notice tone="warn">Without TLS whoever is on the way to the brokers can read what logs in.</Notice>
      )}
      {usesTls(protocol) && <TlsFields form={form} />}
    </Stack>
  );
}

function LoginFields({ form }: { form: WayInForm }) {
  return (
    <Group grow align="flex-start">
      <TextInput label="User" autoComplete="off" spellCheck={false} {...form.getInputProps("username")} />
      <PasswordInput label="Password" autoComplete="new-password" {...form.getInputProps("password")} />
    </Group>
  );
}

function TokenFields({ form }: { form: WayInForm }) {
  return (
    <Stack gap="md">
      <TextInput
        label="Token endpoint"
        description="An https address; tokens are asked for by client credentials and kept until they expire."
        placeholder="https://id.example.com/oauth2/token"
        autoComplete="off"
        {...form.getInputProps("oauth_token_url")}
      />
      <Group grow align="flex-start">
        <TextInput label="Client id" autoComplete="off" spellCheck={false} {...form.getInputProps("oauth_client_id")} />
        <PasswordInput
          label="Client secret"
          autoComplete="new-password"
          {...form.getInputProps("oauth_client_secret")}
        />
      </Group>
      <TextInput label="Scope (optional)" autoComplete="off" {...form.getInputProps("oauth_scope")} />
    </Stack>
  );
}

function TlsFields({ form }: { form: WayInForm }) {
  const pem = { autosize: true, minRows: 2, maxRows: 6, spellCheck: false, classNames: { input: "ps-mono" } };
  return (
    <Stack gap="md">
      <Textarea
        label="Authorities (PEM, optional)"
        description="Who may have issued the brokers' certificates. Empty: the public authorities."
        placeholder={PEM_PLACEHOLDER}
        {...pem}
        {...form.getInputProps("ca_pem")}
      />
      <Textarea
        label="Client certificate (PEM, optional)"
        description="Where the brokers ask clients for one."
        placeholder={PEM_PLACEHOLDER}
        {...pem}
        {...form.getInputProps("client_certificate_pem")}
      />
      {(form.values.client_certificate_pem !== "" || form.values.client_key_pem !== "") && (
        <Textarea
          label="Client key (PEM)"
          description="Without a password. It is kept encrypted and never shown again."
          placeholder="-----BEGIN PRIVATE KEY-----"
          {...pem}
          {...form.getInputProps("client_key_pem")}
        />
      )}
    </Stack>
  );
}

import { Group, PasswordInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { Notice } from "@/components/notice";
import { words } from "@/words/clusters";
import { type Mechanism, type Protocol, usesLogin, usesTls, type WayIn, type WayInSecrets } from "./way-in";

const say = words.wayInFields;

const PROTOCOLS: { value: Protocol; label: string }[] = [
  { value: "SASL_SSL", label: say.saslSslTlsAndA },
  { value: "SSL", label: say.sslTlsKnownByCertificate },
  { value: "SASL_PLAINTEXT", label: say.saslPlaintextALoginWithout },
  { value: "PLAINTEXT", label: say.plaintextNeither },
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
        label={say.bootstrapServers}
        description={say.publicAddressesOrNetworksThat}
        placeholder={say.kafka1ExampleCom9094}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("bootstrap_servers")}
      />
      <Group grow align="flex-start">
        <Select
          label={say.securityProtocol}
          data={PROTOCOLS}
          allowDeselect={false}
          {...form.getInputProps("security_protocol")}
        />
        {usesLogin(protocol) && (
          <Select
            label={say.mechanism}
            data={MECHANISMS}
            allowDeselect={false}
            {...form.getInputProps("sasl_mechanism")}
          />
        )}
      </Group>
      {usesLogin(protocol) && (mechanism === "OAUTHBEARER" ? <TokenFields form={form} /> : <LoginFields form={form} />)}
      {usesLogin(protocol) && !usesTls(protocol) && !mechanism.startsWith("SCRAM") && (
        <Notice tone="warn">{say.withoutTlsWhoeverIsOn}</Notice>
      )}
      {usesTls(protocol) && <TlsFields form={form} />}
    </Stack>
  );
}

function LoginFields({ form }: { form: WayInForm }) {
  return (
    <Group grow align="flex-start">
      <TextInput label={say.user} autoComplete="off" spellCheck={false} {...form.getInputProps("username")} />
      <PasswordInput label={say.password} autoComplete="new-password" {...form.getInputProps("password")} />
    </Group>
  );
}

function TokenFields({ form }: { form: WayInForm }) {
  return (
    <Stack gap="md">
      <TextInput
        label={say.tokenEndpoint}
        description={say.anHttpsAddressTokensAre}
        placeholder={say.httpsIdExampleComOauth2}
        autoComplete="off"
        {...form.getInputProps("oauth_token_url")}
      />
      <Group grow align="flex-start">
        <TextInput
          label={say.clientId}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("oauth_client_id")}
        />
        <PasswordInput
          label={say.clientSecret}
          autoComplete="new-password"
          {...form.getInputProps("oauth_client_secret")}
        />
      </Group>
      <TextInput label={say.scopeOptional} autoComplete="off" {...form.getInputProps("oauth_scope")} />
    </Stack>
  );
}

function TlsFields({ form }: { form: WayInForm }) {
  const pem = { autosize: true, minRows: 2, maxRows: 6, spellCheck: false, classNames: { input: "ps-mono" } };
  return (
    <Stack gap="md">
      <Textarea
        label={say.authoritiesPemOptional}
        description={say.whoMayHaveIssuedThe}
        placeholder={PEM_PLACEHOLDER}
        {...pem}
        {...form.getInputProps("ca_pem")}
      />
      <Textarea
        label={say.clientCertificatePemOptional}
        description={say.whereTheBrokersAskClients}
        placeholder={PEM_PLACEHOLDER}
        {...pem}
        {...form.getInputProps("client_certificate_pem")}
      />
      {(form.values.client_certificate_pem !== "" || form.values.client_key_pem !== "") && (
        <Textarea
          label={say.clientKeyPem}
          description={say.withoutAPasswordItIs}
          placeholder={say.beginPrivateKey}
          {...pem}
          {...form.getInputProps("client_key_pem")}
        />
      )}
    </Stack>
  );
}

/** The way in to a Kafka that runs elsewhere: what a form holds of it, and what the service is asked. */
import type { PlanInputs } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.wayIn;

type Credentials = PlanInputs<"cluster.credentials">;
export type Protocol = NonNullable<Credentials["security_protocol"]>;
export type Mechanism = NonNullable<Credentials["sasl_mechanism"]>;

/** What is kept over a reload. */
export interface WayIn {
  bootstrap_servers: string;
  security_protocol: Protocol;
  sasl_mechanism: Mechanism;
  username: string;
  ca_pem: string;
  client_certificate_pem: string;
  oauth_token_url: string;
  oauth_client_id: string;
  oauth_scope: string;
}

/** What never leaves the form but to the service. */
export interface WayInSecrets {
  password: string;
  client_key_pem: string;
  oauth_client_secret: string;
}

export const NO_SECRETS: WayInSecrets = { password: "", client_key_pem: "", oauth_client_secret: "" };
export const NO_WAY_IN: WayIn = {
  bootstrap_servers: "",
  security_protocol: "SASL_SSL",
  sasl_mechanism: "SCRAM-SHA-512",
  username: "",
  ca_pem: "",
  client_certificate_pem: "",
  oauth_token_url: "",
  oauth_client_id: "",
  oauth_scope: "",
};

export const usesTls = (protocol: Protocol): boolean => protocol === "SSL" || protocol === "SASL_SSL";
export const usesLogin = (protocol: Protocol): boolean => protocol.startsWith("SASL_");

const PASSWORD_FIELDS = ["username", "password"] as const;
const TOKEN_FIELDS = ["oauth_token_url", "oauth_client_id", "oauth_client_secret", "oauth_scope"] as const;
const TLS_FIELDS = ["ca_pem", "client_certificate_pem", "client_key_pem"] as const;

/** The fields that this way in uses. */
export function fieldsOf({ security_protocol: protocol, sasl_mechanism: mechanism }: WayIn) {
  return [
    ...(usesTls(protocol) ? TLS_FIELDS : []),
    ...(usesLogin(protocol) ? (mechanism === "OAUTHBEARER" ? TOKEN_FIELDS : PASSWORD_FIELDS) : []),
  ];
}

/** A plan's inputs: fields of another way in, which may still hold text, stay out. */
export function wayInInputs(values: WayIn & WayInSecrets): Credentials & { bootstrap_servers: string } {
  const filled = fieldsOf(values).filter((name) => values[name] !== "");
  return {
    bootstrap_servers: values.bootstrap_servers.replaceAll(/\s+/g, ""),
    security_protocol: values.security_protocol,
    ...(usesLogin(values.security_protocol) && { sasl_mechanism: values.sasl_mechanism }),
    ...Object.fromEntries(filled.map((name) => [name, values[name]])),
  };
}

const ADDRESSES = /^[^\s,]+:\d{1,5}(,[^\s,]+:\d{1,5})*$/;
const NEEDED = ["username", "password", "oauth_token_url", "oauth_client_id", "oauth_client_secret"];

/** By field what is missing or cannot be right, before anything is asked. */
export function wrongInWayIn(values: WayIn & WayInSecrets): Record<string, string> {
  const wrong: Record<string, string> = {};
  if (!ADDRESSES.test(values.bootstrap_servers.replaceAll(/\s+/g, "")))
    wrong.bootstrap_servers = say.hostPortSeveralDividedBy;
  for (const name of fieldsOf(values)) {
    if (NEEDED.includes(name) && values[name] === "") wrong[name] = say.neededForThisLogin;
  }
  if (!usesTls(values.security_protocol)) return wrong;
  if (values.client_certificate_pem && !values.client_key_pem) wrong.client_key_pem = say.theCertificatesKeyIsNeeded;
  if (values.client_key_pem && !values.client_certificate_pem)
    wrong.client_certificate_pem = say.theKeysCertificateIsNeeded;
  return wrong;
}

/** How a client is connected to a cluster. */
export const connect = {
  javaProperties: "Java properties",
  authority: "CA",
  authorityLabel: "Certificate of the cluster's authority",
  javaLabel: "Java client properties",
  propertiesLabel: "Client properties",
  program: (title: string) => `${title} program`,
  command: (title: string) => `command for ${title}`,
  saveAs: "Save it as",
  install: "Install the client",
  run: "Run it",
  blank: "Put the password where it says <password>.",
  environment: (variable: string) => `It takes the password from the environment variable ${variable}.`,
  tls: "This cluster speaks TLS. Its brokers' certificates are signed by its own authority: keep",
  tlsWhere: "where the client finds it.",
  /** By which mechanism the snippets log in, and by which others one may. */
  logIn: (usual: string, others: readonly string[]) =>
    others.length === 0
      ? `Clients log in by ${usual}.`
      : `Clients log in by ${usual}, as new users do, or by ${others.join(" or ")}, where a user has a password for it.`,
  password: "User name and password come from",
  aUser: "a user that you create",
  once: "; a password is shown once.",
} as const;

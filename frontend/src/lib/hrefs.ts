/** Addresses of what has a name of somebody's own, where no typed link can be: in what is kept or found. */

export const clusterHref = (clusterId: string): string => `/clusters/${encodeURIComponent(clusterId)}`;

export const namedHref = (kind: "topic" | "group", clusterId: string, name: string): string =>
  `${clusterHref(clusterId)}/${kind}s/${encodeURIComponent(name)}`;

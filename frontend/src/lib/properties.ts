/** `key=value` lines, as in a Kafka properties file. Throws an Error that names the line. */
export function parseProperties(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  text.split("\n").forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const at = line.indexOf("=");
    const key = line.slice(0, at).trim();
    if (at < 1 || !/^[A-Za-z0-9._-]+$/.test(key)) throw new Error(`Line ${index + 1} is not key=value`);
    if (key in found) throw new Error(`Line ${index + 1} gives ${key} a second time`);
    found[key] = line.slice(at + 1).trim();
  });
  return found;
}

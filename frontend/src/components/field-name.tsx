import { fieldLabel } from "@/lib/field-names";

/** The field that a sentence is about, named before it, unless the sentence names it itself. */
export default function FieldName({ pointer, detail }: { pointer: string; detail: string }) {
  const label = fieldLabel(pointer);
  if (label === "" || detail.toLowerCase().includes(label.toLowerCase())) return null;
  return <strong style={{ fontWeight: 600 }}>{label}: </strong>;
}

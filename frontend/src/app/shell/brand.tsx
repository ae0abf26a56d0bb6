import { Link } from "@tanstack/react-router";
import { Mark } from "@/components/mark";

export function Brand() {
  return (
    <Link to="/" style={{ display: "flex", gap: 9, alignItems: "center", textDecoration: "none", color: "inherit" }}>
      <Mark />
      <span style={{ fontWeight: 660, fontSize: "0.9375rem", letterSpacing: "-0.01em" }}>Penstock</span>
    </Link>
  );
}

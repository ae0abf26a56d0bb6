import { Stack, Text, ThemeIcon } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyProps {
  icon?: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
  /** The title is the page's own heading. */
  heading?: boolean;
}

/** Nothing here, why that is, and the next sensible thing to do. */
export function Empty({ icon, title, children, action, heading = false }: EmptyProps) {
  return (
    <div style={{ display: "grid", placeItems: "center", padding: "32px 16px" }}>
      <Stack align="center" gap={6} maw={440} ta="center">
        {icon && (
          <ThemeIcon variant="light" size={40} radius="xl" mb={4} aria-hidden>
            {icon}
          </ThemeIcon>
        )}
        <Text fw={600} component={heading ? "h1" : "p"} m={0}>
          {title}
        </Text>
        {children && (
          <Text size="sm" c="dimmed" style={{ textWrap: "balance" }}>
            {children}
          </Text>
        )}
        {action && <div style={{ marginTop: 8 }}>{action}</div>}
      </Stack>
    </div>
  );
}

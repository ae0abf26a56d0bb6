import { Select } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useSession, useSwitchTenant } from "@/lib/session";

/** Shown only to people with more than one tenant. */
export function TenantSwitch() {
  const { data: session } = useSession();
  const switchTenant = useSwitchTenant();
  const router = useRouter();
  if (!session?.tenant || session.tenants.length < 2) return null;
  return (
    <div style={{ padding: "4px 12px 6px" }}>
      <Select
        aria-label="Tenant"
        size="xs"
        allowDeselect={false}
        data={session.tenants.map((tenant) => ({ value: tenant.slug, label: tenant.name }))}
        value={session.tenant.slug}
        disabled={switchTenant.isPending}
        onChange={(slug) => {
          if (!slug || slug === session.tenant?.slug) return;
          switchTenant.mutate(slug, { onSuccess: () => void router.navigate({ to: "/" }) });
        }}
      />
    </div>
  );
}

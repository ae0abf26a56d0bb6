import { useRouter } from "@tanstack/react-router";
import { PlainSelect } from "@/components/plain-select";
import { useSession, useSwitchTenant } from "@/lib/session";
import { words } from "@/words/frame";

const say = words.tenantSwitch;

/** Shown only to people with more than one tenant. */
export function TenantSwitch() {
  const { data: session } = useSession();
  const switchTenant = useSwitchTenant();
  const router = useRouter();
  if (!session?.tenant || session.tenants.length < 2) return null;
  return (
    <div style={{ padding: "4px 12px 6px" }}>
      <PlainSelect
        label={say.tenant}
        options={session.tenants.map((tenant) => ({ value: tenant.slug, label: tenant.name }))}
        value={session.tenant.slug}
        disabled={switchTenant.isPending}
        onPick={(slug) => {
          if (slug === session.tenant?.slug) return;
          switchTenant.mutate(slug, { onSuccess: () => void router.navigate({ to: "/" }) });
        }}
      />
    </div>
  );
}

/** The part of Trusted Types that is needed; older browsers have none. */
interface TrustedTypes {
  createPolicy(name: string, rules: Rules): Rules;
}

interface Rules {
  createScriptURL(address: string): string;
}

/** The only addresses that the policy lets through. */
const known = new Set<string>();
let policy: Rules | undefined;

/**
 * The address of a worker of ours, for a page or worker that demands Trusted Types: it has to allow the
 * policy `weft`. Elsewhere the address itself.
 */
export function trustedAddress(address: string): string {
  known.add(address);
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  try {
    policy ??= trustedTypes?.createPolicy('weft', { createScriptURL: checked });
  } catch {
    // No such policy is allowed; without `require-trusted-types-for` none is needed.
  }
  return policy?.createScriptURL(address) ?? address;
}

function checked(address: string): string {
  if (!known.has(address)) throw new TypeError(`${address} is not a worker of weft-vm`);
  return address;
}

/** The part of Trusted Types that is needed; older browsers have none. */
interface TrustedTypes {
  createPolicy(name: string, rules: Rules): Rules;
}

interface Rules {
  createScriptURL(address: string): string;
}

/** What gives the addresses of a page's workers, which its policy lets through, and no others. */
export function trustedAddresses(): (address: string) => string {
  const known = new Set<string>();
  let policy: Rules | undefined;
  const createScriptURL = (address: string): string => {
    if (!known.has(address)) throw new TypeError(`${address} is not a worker of weft-vm`);
    return address;
  };
  return (address) => {
    known.add(address);
    const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
    try {
      policy ??= trustedTypes?.createPolicy('weft', { createScriptURL });
    } catch {
      // No such policy is allowed; without `require-trusted-types-for` none is needed.
    }
    return policy?.createScriptURL(address) ?? address;
  };
}

/**
 * The address of a worker of ours, for a page or worker that demands Trusted Types: it has to allow the
 * policy `weft`. Elsewhere the address itself.
 */
export const trustedAddress = trustedAddresses();

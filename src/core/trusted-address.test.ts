import { afterEach, expect, test, vi } from 'vitest';
import { trustedAddresses } from './trusted-address.ts';

/** A browser's Trusted Types, with the names of policies that a page allows. */
function trustedTypes(allowed: readonly string[]) {
  const policies: { createScriptURL(address: string): string }[] = [];
  return {
    policies,
    createPolicy(name: string, rules: { createScriptURL(address: string): string }) {
      if (!allowed.includes(name)) throw new TypeError(`Policy "${name}" disallowed.`);
      const policy = {
        createScriptURL: (address: string) => `trusted ${rules.createScriptURL(address)}`,
      };
      policies.push(policy);
      return policy;
    },
  };
}

afterEach(() => vi.unstubAllGlobals());

test('is the address where there are no Trusted Types', () => {
  const trustedAddress = trustedAddresses();
  expect(trustedAddress('/weft-worker.js')).toBe('/weft-worker.js');
});

test('comes from one policy, which lets nothing else through', () => {
  const types = trustedTypes(['weft']);
  vi.stubGlobal('trustedTypes', types);
  const trustedAddress = trustedAddresses();
  expect(trustedAddress('/weft-worker.js')).toBe('trusted /weft-worker.js');
  expect(trustedAddress('/other-folder/weft-worker.js')).toBe(
    'trusted /other-folder/weft-worker.js',
  );
  expect(types.policies).toHaveLength(1);
  expect(() => types.policies[0]?.createScriptURL('/evil.js')).toThrow(
    '/evil.js is not a worker of weft-vm',
  );
});

test('is the address where the page allows no policy of this name', () => {
  vi.stubGlobal('trustedTypes', trustedTypes(['other']));
  const trustedAddress = trustedAddresses();
  expect(trustedAddress('/weft-worker.js')).toBe('/weft-worker.js');
});

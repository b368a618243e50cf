/**
 * Which tests run (docs/tests.md): `test` is what `npm test` runs; `ci` adds what continuous integration runs beside
 * that; `all` is every test in its long form. It is the mode of Vitest: `npm run unit -- --mode all`.
 */
export const TIER: 'test' | 'ci' | 'all' = tierOf(import.meta.env.MODE);

function tierOf(mode: string): 'test' | 'ci' | 'all' {
  return mode === 'ci' || mode === 'all' ? mode : 'test';
}

/** `long` where all tests run, else `quick`: how many seeds a test draws, for one. */
export const inTier = <T>({ quick, long }: { readonly quick: T; readonly long: T }): T =>
  TIER === 'all' ? long : quick;

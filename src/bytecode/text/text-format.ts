const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.$]*$/;

/** A name as it stands in a listing: quoted when it is not plain. */
export function formatName(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

/** A 64-bit float in the fewest digits that give it back; `nan`, `inf`, `-0`. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (Object.is(value, -0)) return '-0';
  if (value === Infinity) return 'inf';
  return value === -Infinity ? '-inf' : String(value);
}

/** `a register`, `an int`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** UTF-16 units that two texts have in common at their beginning, without half of a pair at the end. */
export function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  const last = length === 0 ? 0 : b.charCodeAt(length - 1);
  return last >= 0xd8_00 && last < 0xdc_00 ? length - 1 : length;
}

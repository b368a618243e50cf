/** 160 random bits, as 32 letters and digits. */
export function createToken(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from(
    crypto.getRandomValues(new Uint8Array(32)),
    (byte) => alphabet[byte & 31] ?? '',
  ).join('');
}

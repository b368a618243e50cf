/** How long a token is: 160 bits. */
export const TOKEN_BYTE_LENGTH = 20;

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const MADE = /^[a-z2-7]{32}$/;

/** 160 random bits, as 32 letters and digits. */
export function createToken(): string {
  return encodeToken(crypto.getRandomValues(new Uint8Array(TOKEN_BYTE_LENGTH)));
}

/** Bytes as letters and digits, five bits each (base32 of RFC 4648, in small letters). */
export function encodeToken(bytes: Uint8Array): string {
  let text = '';
  let [bits, count] = [0, 0];
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 5; count -= 5) text += ALPHABET[(bits >> (count - 5)) & 31] ?? '';
    bits &= 31;
  }
  return text;
}

/** Says that a token looks like one that {@link createToken} made, which nobody guesses. */
export function isMadeToken(token: string): boolean {
  return MADE.test(token) && new Set(token).size >= 8;
}

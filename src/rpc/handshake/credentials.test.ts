import { expect, test } from 'vitest';
import { createToken, encodeToken, isMadeToken } from './create-token.ts';
import { deriveRelayToken, importToken, type Purpose } from './credentials.ts';
import { sign } from './handshake.ts';

const PHRASE = 'correct horse battery staple';

test('tokens are 160 bits in base32', () => {
  expect(encodeToken(new Uint8Array(20))).toBe('a'.repeat(32));
  // RFC 4648, section 10.
  expect(encodeToken(new TextEncoder().encode('fooba'))).toBe('mzxw6ytb');
  const tokens = new Set(Array.from({ length: 1000 }, createToken));
  expect(tokens.size).toBe(1000);
  for (const token of tokens) expect(isMadeToken(token)).toBe(true);
  for (const token of ['a'.repeat(32), PHRASE, createToken().slice(1)]) {
    expect(isMadeToken(token)).toBe(false);
  }
});

test('one token gives another key for each purpose, and the same key each time', async () => {
  for (const token of [createToken(), PHRASE]) {
    const proof = async (purpose: Purpose): Promise<string> =>
      String(await sign(await importToken(token, purpose), 'x', []));
    const proofs = await Promise.all([proof('session'), proof('relay'), proof('relay token')]);
    expect(new Set(proofs).size).toBe(3);
    expect(await proof('session')).toBe(proofs[0]);
  }
});

test("a relay's credential is no token of the connection", async () => {
  const token = createToken();
  const relayToken = await deriveRelayToken(token);
  expect(isMadeToken(relayToken)).toBe(true);
  expect(await deriveRelayToken(token)).toBe(relayToken);
  expect(await deriveRelayToken(relayToken)).not.toBe(token);
  const statement = async (of: string): Promise<string> =>
    String(await sign(await importToken(of, 'session'), 'session client', []));
  expect(await statement(relayToken)).not.toBe(await statement(token));
});

test.each([
  ['short', '5 characters'],
  [undefined, 'undefined'],
])('the token %s is refused', async (token, got) => {
  await expect(importToken(token as string, 'session')).rejects.toThrow(
    `token of a remote connection: got ${got}, expected at least 16 random ones.`,
  );
});

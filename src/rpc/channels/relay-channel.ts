import { UsageError } from '../../core/errors.ts';
import type { Channel } from './channel.ts';
import { importToken } from '../handshake/credentials.ts';
import {
  checkBytes,
  encodeText,
  nextFrame,
  readStep,
  sign,
  stranger,
  timed,
  verify,
  makeNonce,
} from '../handshake/handshake.ts';
import { encodeHead } from '../values/messages.ts';
import { malformed } from '../values/wire-values.ts';
import { errorFromWire } from '../errors.ts';

export type RelayRole = 'device' | 'client';

interface JoinOptions {
  readonly role: RelayRole;
  /** The name by which device and client are paired, no secret. */
  readonly key: string;
  /** The credential for the relay, which is not that of the connection. */
  readonly relayToken: string;
  /** How long to wait for a partner; undefined: without end. */
  readonly timeoutMs: number | undefined;
}

const KEY_PATTERN = /^[\w.-]{1,64}$/;
/** The longest time that `setTimeout` takes, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Asks a relay for a partner. Later frames come from the partner. */
export async function joinRelay(channel: Channel, options: JoinOptions): Promise<void> {
  const { role, key } = options;
  checkKey(key);
  const secret = await importToken(options.relayToken, 'relay');
  await timed(channel, options.timeoutMs ?? LONGEST_MS, async () => {
    const [name, nonce] = readStep(await nextFrame(channel));
    if (name === 'error') throw errorFromWire(nonce, 'the relay');
    if (name !== 'relay') throw malformed('an address that is not a relay');
    const proof = await sign(secret, `relay ${role}`, [checkBytes(nonce), encodeText(key)]);
    channel.send({ head: encodeHead(['join', role, key, proof]) });
    const [answer, error] = readStep(await nextFrame(channel));
    if (answer === 'error') throw errorFromWire(error, 'the relay');
    if (answer !== 'joined') throw malformed('another answer of the relay');
  });
}

/** The relay's side: who wants to join, and as what. Rejects with AccessError or ProtocolError. */
export async function admitToRelay(
  channel: Channel,
  { relayToken, timeoutMs }: { readonly relayToken: string; readonly timeoutMs: number },
): Promise<{ role: RelayRole; key: string }> {
  const secret = await importToken(relayToken, 'relay');
  return timed(channel, timeoutMs, async () => {
    const nonce = makeNonce();
    channel.send({ head: encodeHead(['relay', nonce]) });
    const [name, role, key, proof] = readStep(await nextFrame(channel));
    const isRole = role === 'device' || role === 'client';
    if (name !== 'join' || !isRole || typeof key !== 'string' || !KEY_PATTERN.test(key)) {
      throw malformed('a value that is not a role and a key');
    }
    const parts = [nonce, encodeText(key)];
    if (!(await verify(secret, `relay ${role}`, { parts, proof }))) throw stranger();
    return { role, key };
  });
}

/** Tells one side that its partner is there. */
export function announcePartner(channel: Channel): void {
  channel.send({ head: encodeHead(['joined']) });
}

function checkKey(key: string): void {
  if (KEY_PATTERN.test(key)) return;
  throw new UsageError({
    where: 'key of a relay',
    got: JSON.stringify(key),
    expected: '1 to 64 letters, digits, dots, dashes or underscores',
  });
}

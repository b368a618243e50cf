import { type Msg, type NatsConnection, RequestError, TimeoutError } from '@nats-io/nats-core';
import { ServiceError } from '@nats-io/services';
import type { Channel } from '../channels/channel.ts';
import { AccessError, LimitError, ProtocolError, RemoteLostError } from '../errors.ts';
import { NatsChannel, type NatsChannelOptions } from './nats-channel.ts';
import { isInbox } from './subjects.ts';

/** The device has its maximum number of connections. */
export const FULL = 429;
/** The request was for no connection. */
export const MALFORMED = 400;

interface OpenOptions extends NatsChannelOptions {
  /** How long the device may take to answer. */
  readonly timeoutMs: number;
}

/** The subjects on which both sides listen. */
export function encodeInbox({ inbox }: NatsChannel): string {
  return JSON.stringify({ inbox });
}

/** The inbox of a request or an answer; undefined when it holds none. */
export function readInbox(message: Msg): string | undefined {
  try {
    const { inbox } = message.json<{ inbox?: unknown } | null>() ?? {};
    return isInbox(inbox) ? inbox : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Asks for a connection at a subject. Rejects with RemoteLostError when nobody listens there or answers,
 * with LimitError when all are busy, with AccessError when the broker does not allow it.
 */
export async function openChannel(
  nats: NatsConnection,
  subject: string,
  { timeoutMs, ...options }: OpenOptions,
): Promise<Channel> {
  const channel = new NatsChannel(nats, options);
  try {
    const answer = await nats.request(subject, encodeInbox(channel), { timeout: timeoutMs });
    const refusal = ServiceError.toServiceError(answer);
    if (refusal !== null) throw refused(refusal);
    const inbox = readInbox(answer);
    if (inbox === undefined) {
      throw new ProtocolError({ where: subject, got: 'another answer', expected: 'a connection' });
    }
    channel.join(inbox);
    return channel;
  } catch (error) {
    channel.close();
    throw asRpcError(error, subject);
  }
}

function refused({ code, message }: ServiceError): Error {
  if (code !== FULL) {
    return new ProtocolError({ where: 'device', got: message, expected: 'a connection' });
  }
  return new LimitError({
    where: 'device',
    got: 'as many connections as it accepts',
    expected: 'fewer connections',
    remedy: 'Close unused connections, try again later, or serve more devices.',
  });
}

/** Errors of NATS's client as those of a remote connection; others as they are. */
export function asRpcError(error: unknown, where: string): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { name, message } = error;
  if (['AuthorizationError', 'PermissionViolationError'].includes(name)) {
    return new AccessError(
      { where, got: message, expected: 'a client that the broker knows and permits' },
      { cause: error },
    );
  }
  const isLost =
    error instanceof RequestError ||
    error instanceof TimeoutError ||
    ['ClosedConnectionError', 'DrainingConnectionError', 'ConnectionError'].includes(name);
  if (!isLost) return error;
  return new RemoteLostError(
    {
      where,
      got: message,
      expected: 'a device that answers',
      remedy: 'Serve one with `weft rpc serve --nats`, and see `weft rpc devices`.',
    },
    { cause: error },
  );
}

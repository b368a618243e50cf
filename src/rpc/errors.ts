import {
  type ErrorData,
  type ErrorDetail,
  errorFromData,
  errorToData,
  WeftError,
} from '../core/errors.ts';

/** The other side is gone. Pending calls may or may not have run there; they are not repeated. */
export class RemoteLostError extends WeftError {
  static override readonly errorName: string = 'RemoteLostError';
}

/** The other side does not know the token, or its origin is not allowed. */
export class AccessError extends WeftError {
  static override readonly errorName: string = 'AccessError';
}

/** The other side sent something that is no message of the protocol. */
export class ProtocolError extends WeftError {
  static override readonly errorName: string = 'ProtocolError';
}

/** A message, or what one side holds for the other, is beyond a limit. */
export class LimitError extends WeftError {
  static override readonly errorName: string = 'LimitError';
}

const ERROR_CLASSES = [RemoteLostError, AccessError, ProtocolError, LimitError];

const MAX_TEXT = 16_384;
const MAX_CAUSE_COUNT = 8;
const MAX_DETAIL_COUNT = 64;

/** Anything thrown, with texts of bounded length. */
export function errorToWire(thrown: unknown): ErrorData {
  return shorten(errorToData(thrown), 0);
}

function shorten(data: ErrorData, depth: number): ErrorData {
  const { name, message, details, stack, cause } = data;
  const details_: Record<string, ErrorDetail> = {};
  for (const [key, value] of Object.entries(details).slice(0, MAX_DETAIL_COUNT)) {
    if (isDetail(value)) details_[cut(key)] = shortDetail(value);
  }
  return {
    name: cut(name),
    message: cut(message),
    details: details_,
    stack: stack === undefined ? undefined : cut(stack),
    cause: cause === undefined || depth >= MAX_CAUSE_COUNT ? undefined : shorten(cause, depth + 1),
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function shortDetail(value: ErrorDetail): ErrorDetail {
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object') return value;
  const items: readonly (string | number)[] = value.slice(0, 256);
  return items.map((item) => (typeof item === 'string' ? cut(item) : item)) as ErrorDetail;
}

function isDetail(value: unknown): value is ErrorDetail {
  if (Array.isArray(value)) {
    return value.every((item) => typeof item === 'string' || typeof item === 'number');
  }
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * The error of a message: of its own class, with the stack of the side that threw it. Message and
 * `details.remote` say where it comes from. Throws ProtocolError for what is no error.
 */
export function errorFromWire(data: unknown, remote: string): Error {
  const checked = shorten(checkData(data, 0), 0);
  const details = { ...checked.details, remote: checked.details.remote ?? remote };
  const isNew = checked.details.remote === undefined;
  const message = isNew ? `${checked.message}\n    on ${remote}` : checked.message;
  const named = { ...checked, message, details };
  const own = ERROR_CLASSES.find((candidate) => candidate.errorName === named.name);
  if (own === undefined) return errorFromData(named);
  const cause = named.cause === undefined ? undefined : errorFromData(named.cause);
  return new own(message, { details, cause });
}

function checkData(data: unknown, depth: number): ErrorData {
  if (typeof data !== 'object' || data === null) throw notAnError();
  const { name, message, details, stack, cause } = data as Partial<Record<string, unknown>>;
  if (typeof name !== 'string' || typeof message !== 'string') throw notAnError();
  const isNested = cause !== undefined && cause !== null && depth < MAX_CAUSE_COUNT;
  return {
    name,
    message,
    details: checkDetails(details),
    stack: typeof stack === 'string' ? stack : undefined,
    cause: isNested ? checkData(cause, depth + 1) : undefined,
  };
}

function checkDetails(details: unknown): Record<string, ErrorDetail> {
  if (typeof details !== 'object' || details === null) return {};
  return Object.fromEntries(Object.entries(details).filter(([, value]) => isDetail(value)));
}

function notAnError(): ProtocolError {
  return new ProtocolError({
    where: 'remote connection',
    got: 'a failure without name and message',
    expected: 'an error as data',
  });
}

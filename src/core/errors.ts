/**
 * The parts of a {@link WeftError}: what was got, what was expected, where, and what to do.
 * `got` and `expected` are noun phrases; `remedy` is a sentence.
 */
export interface Complaint {
  /** The place, such as an option or a node. */
  readonly where?: string | undefined;
  /** The thing that was there, as a noun phrase. */
  readonly got: string;
  /** The thing that should have been there, as a noun phrase. */
  readonly expected: string;
  readonly remedy?: string | undefined;
}

/** An error as plain data, so that it crosses a worker or a remote connection whole. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly details: Readonly<Record<string, ErrorDetail>>;
  readonly stack?: string | undefined;
  readonly cause?: ErrorData | undefined;
}

/** A structured-cloneable detail of an error, such as sizes in bytes or a list of node names. */
export type ErrorDetail = string | number | boolean | readonly string[] | readonly number[];

/** Data that an error carries beside its message. */
interface WeftErrorOptions {
  readonly cause?: unknown;
  /** Facts for programs, such as sizes in bytes. */
  readonly details?: Readonly<Record<string, ErrorDetail>>;
}

/** The base of every error that Weft throws on purpose. */
export class WeftError extends Error {
  /** A stable code of the class, such as `WEFT_DEVICE_LOST`; docs/troubleshooting.md has a section for each. */
  readonly code: string;
  /** Facts for programs, such as sizes in bytes or a list of names; each error says which. */
  readonly details: Readonly<Record<string, ErrorDetail>>;

  constructor(complaint: string | Complaint, options: WeftErrorOptions = {}) {
    super(
      shortened(typeof complaint === 'string' ? complaint : complaintText(complaint)),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = new.target.errorName;
    this.code =
      `WEFT${this.name.replace(/^Weft|Error$/g, '').replace(/[A-Z]/g, '_$&')}`.toUpperCase();
    this.details = options.details ?? {};
  }

  /** The class's name as it crosses a worker; a bundler may rename the class itself. */
  static readonly errorName: string = 'WeftError';
}

/** No message is longer. */
export const MAX_MESSAGE = 2000;

/** Of a longer place a message shows so many characters of its begin, and of its end. */
const SHOWN_PLACE = 120;

/** A place as messages show it. */
export function shortPlace(where: string): string {
  if (where.length <= 2 * SHOWN_PLACE) return where;
  return `${where.slice(0, SHOWN_PLACE)} … ${where.slice(-SHOWN_PLACE)}`;
}

function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  const cut = message.slice(0, MAX_MESSAGE - 50);
  return `${cut}… (${message.length - cut.length} more characters)`;
}

/** Texts and lists of numbers in what was got, of which a message shows no more than the begin. */
const LONG_VALUE = /"(?:[^"\\]|\\.){80,}"|%[\w.$]{80,}|-?\d[-\d.,e+\s]{80,}/g;

/** What was got, without the ends of long values. */
export function shortValues(got: string): string {
  return got.replaceAll(LONG_VALUE, (value) => `${value.slice(0, 79)}…`);
}

/** The complaint as the sentence that an error has as its message. */
export function complaintText({ where, got, expected, remedy }: Complaint): string {
  const place = where === undefined ? '' : `${shortPlace(where)}: `;
  const advice = remedy === undefined ? '' : ` ${remedy}`;
  return `${place}got ${shortValues(got)}, expected ${expected}.${advice}`;
}

/** The bytes are not a readable executable, model or image. */
export class FormatError extends WeftError {
  static override readonly errorName: string = 'FormatError';
}

/** The executable is readable, but its code or tables break a rule of the machine. */
export class VerifyError extends WeftError {
  static override readonly errorName: string = 'VerifyError';
}

/** A text (listing, IR, expression) has a syntax error. */
export class ParseError extends WeftError {
  static override readonly errorName: string = 'ParseError';
}

/** The IR is not well-typed. */
export class TypeCheckError extends WeftError {
  static override readonly errorName: string = 'TypeCheckError';
}

/** Shapes, ranks or dtypes of tensors do not fit an operator or a signature. */
export class ShapeError extends WeftError {
  static override readonly errorName: string = 'ShapeError';
}

/** The input is valid, but uses something that Weft does not have. */
export class UnsupportedError extends WeftError {
  static override readonly errorName: string = 'UnsupportedError';
}

/** Compiling a program would take more nodes, bytes or time than its limits allow. */
export class CompileLimitError extends WeftError {
  static override readonly errorName: string = 'CompileLimitError';
}

/** A call of the public interface is wrong: an unknown name, a missing input, a use after dispose. */
export class UsageError extends WeftError {
  static override readonly errorName: string = 'UsageError';
}

/** A program failed while it ran: a packed function threw, an assertion or `fatal` was reached. */
export class RuntimeError extends WeftError {
  static override readonly errorName: string = 'RuntimeError';
}

/** The device refused something: no adapter, a shader that does not compile, a validation error. */
export class DeviceError extends WeftError {
  static override readonly errorName: string = 'DeviceError';
}

/** The GPU device is gone; load the session again to go on. */
export class DeviceLostError extends DeviceError {
  static override readonly errorName: string = 'DeviceLostError';
}

/** An allocation went beyond the byte budget or the device's memory. */
export class OutOfMemoryError extends WeftError {
  static override readonly errorName: string = 'OutOfMemoryError';
}

/** The bytes of a source could not be fetched: an HTTP status, or a connection that broke off. */
export class DownloadError extends WeftError {
  static override readonly errorName: string = 'DownloadError';
}

/** A store of snapshots could not be read or written: no room, no permission. */
export class StorageError extends WeftError {
  static override readonly errorName: string = 'StorageError';
}

/**
 * A worker could not be had (`details.reason` and `details.url`), or the one that held the session
 * stopped.
 */
export class WorkerError extends WeftError {
  static override readonly errorName: string = 'WorkerError';
}

const ERROR_CLASSES = [
  WeftError,
  FormatError,
  VerifyError,
  ParseError,
  TypeCheckError,
  ShapeError,
  UnsupportedError,
  CompileLimitError,
  UsageError,
  RuntimeError,
  DeviceError,
  DeviceLostError,
  OutOfMemoryError,
  DownloadError,
  StorageError,
  WorkerError,
];

/** An error may be its own cause. */
const MAX_CAUSE_COUNT = 8;

/** Turns anything thrown into data. The inverse is {@link errorFromData}. */
export function errorToData(thrown: unknown, causeCount = 0): ErrorData {
  if (!(thrown instanceof Error)) {
    return { name: 'Error', message: String(thrown), details: {} };
  }
  return {
    name: thrown.name,
    message: thrown.message,
    details: thrown instanceof WeftError ? thrown.details : {},
    stack: thrown.stack,
    cause:
      thrown.cause === undefined || causeCount === MAX_CAUSE_COUNT
        ? undefined
        : errorToData(thrown.cause, causeCount + 1),
  };
}

/** Rebuilds an error of the same class, with the stack of the side that threw it. */
export function errorFromData(data: ErrorData): Error {
  const cause = data.cause === undefined ? undefined : errorFromData(data.cause);
  const error = instantiate(data, cause);
  if (data.stack !== undefined) {
    Object.defineProperty(error, 'stack', { value: data.stack, configurable: true });
  }
  return error;
}

function instantiate(data: ErrorData, cause: Error | undefined): Error {
  if (data.name === 'AbortError') return new DOMException(data.message, 'AbortError');
  const weftClass = ERROR_CLASSES.find((candidate) => candidate.errorName === data.name);
  if (weftClass !== undefined) return new weftClass(data.message, { cause, details: data.details });
  const error = new Error(data.message, cause === undefined ? undefined : { cause });
  error.name = data.name;
  return error;
}

/** The error with which an aborted call rejects: the signal's own reason if it is an error. */
export function abortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError');
}

/** A bug of Weft's own, never the caller's. */
export function internalError(message: string): Error {
  return new Error(`internal: ${message}`);
}

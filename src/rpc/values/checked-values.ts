import { isDType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { isRecord, isRpcValue, type RpcFunction } from './rpc-value.ts';
import { malformed } from './wire-values.ts';

// Checks of what the other side sends. All throw ProtocolError.

/** Checks a part of data, which `name` names in the error, and gives what it is. */
export type Check<T> = (value: unknown, name: string) => T;

/** A part that is another than the methods of this version have. */
export const unexpected = (name: string) =>
  malformed(`data with another ${name.slice(0, 100)} than this version of Weft sends`);

function checked<T>(is: (value: unknown) => boolean): Check<T> {
  return (value, name) => {
    if (is(value)) return value as T;
    throw unexpected(name);
  };
}

export const text = checked<string>((value) => typeof value === 'string');
export const number = checked<number>((value) => typeof value === 'number');
export const flag = checked<boolean>((value) => typeof value === 'boolean');
export const dtype = checked<HostTensor['dtype']>((value) => isDType(String(value)));
export const hostTensor = checked<HostTensor>((value) => value instanceof HostTensor);
export const int = checked<number>((value) => Number.isSafeInteger(value));
/** An integer from 0 up. */
export const count = checked<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const bytes = checked<Uint8Array>((value) => value instanceof Uint8Array);
export const typedArray = checked<HostTensor['elements']>((value) => ArrayBuffer.isView(value));
export const callable = checked<RpcFunction>(
  (value) => typeof value === 'function' && isRpcValue(value),
);
/** Whatever it is: nobody looks into it. */
export const anything: Check<unknown> = (value) => value;

/** A part that may be left out, or null. */
export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, name) =>
    value === undefined || value === null ? undefined : check(value, name);

export const oneOf = <const T extends string>(...known: readonly T[]): Check<T> =>
  checked<T>((value) => known.some((one) => one === value));

export const listOf =
  <T>(check: Check<T>, most = Number.POSITIVE_INFINITY): Check<readonly T[]> =>
  (value, name) => {
    if (!Array.isArray(value) || value.length > most) throw unexpected(name);
    return value.map((item: unknown) => check(item, name));
  };

/** Parts by names that nobody knows before. */
export const dictionaryOf =
  <T>(check: Check<T>): Check<Readonly<Record<string, T>>> =>
  (value, name) => {
    if (!isRecord(value)) throw unexpected(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, check(part, `${name}, ${key}`)]),
    );
  };

type Result<C> = C extends Check<infer T> ? T : never;
type Optional<Checks> = {
  [Name in keyof Checks]: undefined extends Result<Checks[Name]> ? Name : never;
}[keyof Checks];
type Checked<Checks> = {
  readonly [Name in Exclude<keyof Checks, Optional<Checks>>]: Result<Checks[Name]>;
} & { readonly [Name in Optional<Checks>]?: Exclude<Result<Checks[Name]>, undefined> };

/** A record of these fields, which has no others. */
export const record =
  <Checks extends Readonly<Record<string, Check<unknown>>>>(
    checks: Checks,
  ): Check<Checked<Checks>> =>
  (value, name) => {
    if (!isRecord(value)) throw unexpected(name);
    const fields = Object.entries(checks).map(([key, check]) => {
      return [key, check(Object.hasOwn(value, key) ? value[key] : undefined, key)] as const;
    });
    const known = fields.filter(([, part]) => part !== undefined);
    return Object.fromEntries(known) as Checked<Checks>;
  };

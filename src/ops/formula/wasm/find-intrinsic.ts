import type * as Doubles from './double-intrinsics.ts';
import type { IntrinsicName } from '../expression.ts';
import type { DoubleFunction } from './wasm-doubles.ts';
import { type Intrinsic, INTRINSICS } from './wasm-intrinsics.ts';

type Table<T> = Readonly<Partial<Record<string, T>>>;

/** Loaded code, for all devices of the thread. */
let doubles: typeof Doubles | undefined;

/** Loads the functions that need double precision, which few programs call. */
export async function loadDoubles(): Promise<void> {
  doubles = await import('./double-intrinsics.ts');
}

const own = <T>(table: Table<T> | undefined, name: IntrinsicName): T | undefined =>
  table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

/** The function in four lanes of float32; undefined for one that is not loaded. */
export const findIntrinsic = (name: IntrinsicName): Intrinsic | undefined =>
  own<Intrinsic>(INTRINSICS, name) ?? own<Intrinsic>(doubles?.DOUBLE_INTRINSICS, name);

/** In two lanes of float64; undefined for one that there is not, or that is not loaded. */
export const findDouble = (name: IntrinsicName): DoubleFunction | undefined =>
  own<DoubleFunction>(doubles?.DOUBLE_FUNCTIONS, name);

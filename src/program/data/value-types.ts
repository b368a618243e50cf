import type { DataValue } from './data-value.ts';
import type { NdArray } from '../nd-array.ts';
import type { Operand } from '../operand.ts';
import type { ArraySpec, ConstructorSpecs, SelfSpec } from './value-spec.ts';

/** A value of data, whichever type it has; comparing whole types would not end for recursive ones. */
interface AnyData {
  readonly spec: { readonly kind: 'data' };
}

/** The values of a spec: arrays and data, in the same objects and arrays. */
export type ValueOf<S> = S extends ArraySpec
  ? NdArray
  : S extends { readonly kind: 'data'; readonly constructors: infer C extends ConstructorSpecs }
    ? DataValue<C>
    : { readonly [K in keyof S]: ValueOf<S[K]> };

/** The values that are accepted for a spec: numbers too, in place of arrays. */
export type InputFor<S> = S extends ArraySpec
  ? Operand
  : S extends { readonly kind: 'data'; readonly constructors: infer C extends ConstructorSpecs }
    ? DataValue<C>
    : { readonly [K in keyof S]: InputFor<S[K]> };

export type FieldsOf<F, C extends ConstructorSpecs> = F extends SelfSpec
  ? DataValue<C>
  : F extends ArraySpec
    ? NdArray
    : F extends { readonly kind: 'data'; readonly constructors: infer D extends ConstructorSpecs }
      ? DataValue<D>
      : { readonly [K in keyof F]: FieldsOf<F[K], C> };

export type InputFields<F, C extends ConstructorSpecs> = F extends SelfSpec
  ? DataValue<C>
  : F extends ArraySpec
    ? Operand
    : F extends { readonly kind: 'data'; readonly constructors: infer D extends ConstructorSpecs }
      ? DataValue<D>
      : { readonly [K in keyof F]: InputFields<F[K], C> };

/** True for the type of operands, which is recursive. */
type IsOperand<T> = [T] extends [NdArray]
  ? false
  : [unknown] extends [T]
    ? false
    : [Operand] extends [T]
      ? true
      : false;

/** The values that a body returned: numbers have become arrays. */
export type ResultOf<R> =
  IsOperand<R> extends true
    ? NdArray
    : R extends NdArray
      ? NdArray
      : R extends AnyData
        ? R
        : R extends Operand
          ? R extends readonly (infer E)[]
            ? E extends number | bigint | boolean
              ? NdArray[]
              : { readonly [K in keyof R]: ResultOf<R[K]> }
            : NdArray
          : { readonly [K in keyof R]: ResultOf<R[K]> };

/**
 * The values that are accepted where another branch, or an earlier state, has a value of type T:
 * arrays and numbers are alike.
 */
export type Like<T> =
  IsOperand<T> extends true
    ? Operand
    : T extends number | bigint | boolean | NdArray
      ? Operand
      : T extends AnyData
        ? T
        : T extends Operand
          ? T extends readonly unknown[]
            ? { readonly [K in keyof T]: Like<T[K]> }
            : Operand
          : { readonly [K in keyof T]: Like<T[K]> };

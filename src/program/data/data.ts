import {
  checkOptions,
  instanceOf,
  type OptionKinds,
  requireKind,
} from '../../core/check-options.ts';
import { DimValues } from '../../core/dims/dim-values.ts';
import { UsageError } from '../../core/errors.ts';
import {
  construct,
  constructorPattern,
  match as matchExpr,
  variableOf,
} from '../../compiler/ir/build.ts';
import type { Type, TypeDefinition } from '../../compiler/ir/type.ts';
import type { OutputValue } from '../../client/values/session-value.ts';
import { dataOf, exprIn } from '../array-state.ts';
import { callSite, callUser, placeOf, siteOr, within } from '../call-site.ts';
import { isFieldLeaf } from './data-tree.ts';
import { DataValue, dataIn, tracedData } from './data-value.ts';
import { declareTypes } from './declare-types.ts';
import { realize } from '../eager/realize.ts';
import { type Operand, stateOf } from '../operand.ts';
import { bundle, currentFrame, type Frame, requireFrame } from '../trace.ts';
import { requireType } from '../program.ts';
import { leavesOf, mapTree, zipTree } from './tree.ts';
import type { ConstructorSpecs, DataSpec, FieldSpecs, LeafSpec, SelfSpec } from './value-spec.ts';
import { typeOfLeaf } from './value-spec.ts';
import type { FieldsOf, InputFields, ResultOf } from './value-types.ts';
import {
  requireSameLeaves,
  unbundle,
  valueOf,
  type WrittenLeaf,
  writtenLike,
  wrongLeaf,
} from '../values.ts';

/** A data type: a type for parameters and results, and its constructors as functions of their fields. */
export type DataType<C extends ConstructorSpecs> = DataSpec<C> & {
  readonly [K in keyof C]: keyof C[K] extends never
    ? () => DataValue<C>
    : (fields: { readonly [F in keyof C[K]]: InputFields<C[K][F], C> }) => DataValue<C>;
};

const CONSTRUCTOR = /^[A-Z]\w*$/;
const SELF: SelfSpec = { kind: 'self' };

/**
 * An algebraic data type: constructors by name, each with the types of its fields. `self` is the type itself.
 *
 * ```ts
 * const List = data('List', (self) => ({ Cons: { head: f32(), tail: self }, Nil: {} }));
 * List.Cons({ head: 1, tail: List.Nil() })
 * ```
 */
export function data<const C extends ConstructorSpecs>(
  name: string,
  constructors: (self: SelfSpec) => C,
): DataType<C> {
  return within(data, () => {
    requireKind(placeOf('data'), 'function', ['constructors that are', constructors]);
    const specs = constructors(SELF);
    for (const given of [name, ...Object.keys(specs)]) {
      if (CONSTRUCTOR.test(given)) continue;
      throw new UsageError({
        where: siteOr('data'),
        got: `the name ${JSON.stringify(given)}`,
        expected: 'names that begin with a capital letter',
      });
    }
    const isSome = Object.keys(Object(specs)).length > 0;
    requireKind(placeOf('data'), ['some, by their names', () => isSome], ['constructors', specs]);
    const definition: TypeDefinition = {
      name,
      params: [],
      constructors: Object.entries(specs).map(([constructor, fields]) => ({
        name: constructor,
        fields: leavesOf(fields, isFieldLeaf).map(({ leaf }) => typeOfField(leaf, name)),
      })),
    };
    const spec: DataSpec<C> = { kind: 'data', name, definition, constructors: specs };
    const functions = Object.fromEntries(
      Object.keys(specs).map((constructor) => {
        const make = (fields: unknown = {}): DataValue =>
          within(make, () => makeValue(spec, constructor, fields));
        return [constructor, make];
      }),
    );
    return Object.assign(spec, functions) as unknown as DataType<C>;
  }, ['data', arguments, 2]);
}

function typeOfField(leaf: LeafSpec | SelfSpec, name: string): Type {
  return leaf.kind === 'self' ? { kind: 'adt', name, args: [] } : typeOfLeaf(leaf);
}

function fieldsOf(spec: DataSpec, constructor: string): FieldSpecs {
  return spec.constructors[constructor] ?? {};
}

function makeValue(spec: DataSpec, constructor: string, given: unknown): DataValue {
  const where = `${spec.name}.${constructor}`;
  const leaves = zipTree(fieldsOf(spec, constructor), isFieldLeaf, { given, where });
  const frame = currentFrame();
  if (frame === undefined) {
    const fields = leaves.map(({ leaf, value, path }) =>
      fieldOutside(ofSelf(leaf, spec), value, path),
    );
    const value = Promise.all(fields).then((all) => ({ constructor, fields: all }));
    return new DataValue(spec, { kind: 'given', value });
  }
  declareTypes(frame.trace, spec);
  const exprs = leaves.map(({ leaf, value, path }) => {
    const own = ofSelf(leaf, spec);
    if (own.kind === 'data') return dataIn(frame, requireData(own, value, path));
    return exprIn(frame, stateOf(value as Operand, own.dtype));
  });
  const expr = construct(constructor, exprs, callSite());
  const type = frame.trace.inference.of(expr);
  return tracedData(spec, { expr, type, frame });
}

function ofSelf(leaf: LeafSpec | SelfSpec, spec: DataSpec): LeafSpec {
  return leaf.kind === 'self' ? spec : leaf;
}

function requireData(leaf: LeafSpec, value: unknown, path: string): DataValue {
  if (value instanceof DataValue && leaf.kind === 'data' && value.spec.name === leaf.name)
    return value;
  throw wrongLeaf(leaf, value, path);
}

function fieldOutside(leaf: LeafSpec, value: unknown, path: string): Promise<OutputValue> {
  if (leaf.kind === 'data') {
    const { dataState } = requireData(leaf, value, path);
    if (dataState.kind === 'traced') throw wrongLeaf(leaf, value, path);
    return Promise.resolve(dataState.value);
  }
  const state = stateOf(value as Operand, leaf.dtype);
  requireType(state.type, leaf, { place: path, sizes: new DimValues() });
  realize([state]);
  if (state.expr.kind !== 'var') throw wrongLeaf(leaf, value, path);
  const { host, device } = dataOf(state.expr);
  const elements = device ?? host;
  if (elements === undefined) throw wrongLeaf(leaf, value, path);
  return Promise.resolve(elements);
}

/** A function for each constructor, which gets its fields. */
type AllCases<C extends ConstructorSpecs> = {
  readonly [K in keyof C]: (
    fields: { readonly [F in keyof C[K]]: FieldsOf<C[K][F], C> },
  ) => unknown;
};

/** A case for each constructor, or for some, and `_` for all others. */
type Cases<C extends ConstructorSpecs> =
  | AllCases<C>
  | (Partial<AllCases<C>> & { readonly _: () => unknown });

type ResultOfCases<K> = {
  [N in keyof K]: K[N] extends (...args: never[]) => infer R ? R : never;
}[keyof K];

/**
 * The result of the case for the constructor that made a value. All cases give the same objects and
 * arrays, of the same dtypes.
 *
 * ```ts
 * match(list, { Cons: ({ head, tail }) => head.add(sum(tail)), Nil: () => 0 })
 * ```
 */
export function match<C extends ConstructorSpecs, K extends Cases<NoInfer<C>>>(
  value: DataValue<C>,
  cases: K,
): ResultOf<ResultOfCases<K>> {
  return within(match, () => {
    const frame = requireFrame('match');
    requireKind(placeOf('match'), instanceOf('data', DataValue), ['the value', value]);
    const { spec } = value;
    const names = [...Object.keys(spec.constructors), '_'];
    const kinds = Object.fromEntries(names.map((name) => [name, 'function']));
    checkOptions(placeOf('match'), cases, kinds as OptionKinds<K>);
    const given = cases as unknown as Readonly<Record<string, (fields: unknown) => unknown>>;
    const results = Object.keys(spec.constructors).map((constructor) => {
      const run = given[constructor] ?? given['_'];
      if (run === undefined) {
        throw new UsageError({
          where: siteOr('match'),
          got: `no case for ${constructor}`,
          expected: `one for each constructor of ${spec.name}`,
          remedy: 'A case _ is for all that are not named.',
        });
      }
      const { params, fields } = openFields(frame, spec, constructor);
      return { constructor, params, tree: callUser(() => run(fields)) };
    });
    return joinCases(frame, value, results) as ResultOf<ResultOfCases<K>>;
  }, ['match', arguments, 2]);
}

function openFields(frame: Frame, spec: DataSpec, constructor: string) {
  const tree = fieldsOf(spec, constructor);
  const params = leavesOf(tree, isFieldLeaf).map(({ path, leaf }) =>
    variableOf(path, typeOfField(leaf, spec.name)),
  );
  let next = 0;
  const fields = mapTree(tree, isFieldLeaf, (leaf) => {
    const param = params[next++];
    if (param?.type === undefined) throw new Error('internal: a field without a type');
    const own = ofSelf(leaf, spec);
    return valueOf(frame, param, { type: param.type, spec: own.kind === 'data' ? own : undefined });
  });
  return { params, fields };
}

interface CaseResult {
  readonly constructor: string;
  readonly params: ReturnType<typeof openFields>['params'];
  readonly tree: unknown;
}

function joinCases(frame: Frame, value: DataValue, results: readonly CaseResult[]): unknown {
  const [first] = results;
  if (first === undefined) throw new Error('internal: a data type without constructors');
  // A number is what arrays in its place in other cases are.
  let like: readonly WrittenLeaf[] = [];
  for (const { tree } of [...results, ...results]) like = writtenLike(frame, tree, like);
  const clauses = results.map(({ constructor, params, tree }) => {
    const leaves = writtenLike(frame, tree, like);
    requireSameLeaves(leaves, like, `match, the case ${constructor}`, 'kinds');
    const body = bundle(leaves.map(({ expr }) => expr));
    return [constructorPattern(constructor, params), body] as const;
  });
  const span = callSite();
  const plain = matchExpr(dataIn(frame, value), clauses);
  const expr = span === undefined ? plain : { ...plain, span };
  const type = frame.trace.inference.of(expr);
  const leaves = like.map((leaf, i) => {
    const part = like.length === 1 ? type : type.kind === 'tuple' ? type.fields[i] : undefined;
    return part === undefined ? leaf : { ...leaf, type: part };
  });
  return unbundle(frame, expr, { tree: first.tree, leaves });
}

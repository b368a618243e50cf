import { formatDim } from '../core/dims/dim.ts';
import { DimValues } from '../core/dims/dim-values.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import { callFunction, func, global, projection, tuple, variableOf } from '../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../compiler/ir/expr.ts';
import { formatType, type TensorTypeNode, tensorType, type Type } from '../compiler/ir/type.ts';
import type { Executable } from '../bytecode/file/executable-file.ts';
import { dataOf, requireLive } from './array-state.ts';
import { callSite, callUser, siteOr } from './call-site.ts';
import { DataValue } from './data/data-value.ts';
import { declareTypes } from './data/declare-types.ts';
import { argumentOf, realize, deviceArray } from './eager/realize.ts';
import { wrap } from './nd-array.ts';
import { type Operand, stateOf } from './operand.ts';
import {
  type Argument,
  moduleKey,
  moduleText,
  Runner,
  type RunnerOptions,
} from './runners/runner.ts';
import { sharedRunner } from './runners/shared-runners.ts';
import { bundle, currentFrame, Frame, inFrame, Trace } from './trace.ts';
import { leavesOf, mapTree, zipTree } from './data/tree.ts';
import {
  type DataSpec,
  isLeafSpec,
  type LeafSpec,
  type Spec,
  typeOfLeaf,
} from './data/value-spec.ts';
import {
  isValueLeaf,
  valueOf,
  type WrittenLeaf,
  writtenAs,
  writtenLeaves,
  wrongLeaf,
} from './values.ts';

/** How a program is made, and where it runs. */
export interface ProgramOptions extends RunnerOptions {
  /** The name of its function in modules of programs that call it. Default: the name of the body. */
  readonly name?: string;
}

export interface ProgramSource {
  readonly params: Spec;
  readonly result: Spec | undefined;
  readonly body: (args: never, self: never) => unknown;
  readonly options: ProgramOptions;
  /** True if it shares one runner with all programs that are compiled of the same module. */
  readonly isShared?: boolean;
}

class ResultLeaf {
  readonly path: string;
  readonly spec: DataSpec | undefined;

  constructor(path: string, spec: DataSpec | undefined) {
    this.path = path;
    this.spec = spec;
  }
}

const isResultLeaf = (value: unknown): value is ResultLeaf => value instanceof ResultLeaf;

interface Written {
  readonly module: Module;
  readonly result: unknown;
  /** The types of the results of `main`. */
  readonly types: readonly Type[];
}

/** A program: written down when it is first used, compiled when it first runs. */
export class ProgramCore {
  readonly #source: ProgramSource;
  #runner: Runner | undefined;
  #written: Written | undefined;
  /** Results of the program, by the modules that it is written into. */
  readonly #results = new WeakMap<Trace, unknown>();

  constructor(source: ProgramSource) {
    this.#source = source;
    this.#runner =
      source.isShared === true
        ? undefined
        : new Runner(() => moduleText(this.written.module), optionsOf(source.options));
  }

  get source(): ProgramSource {
    return this.#source;
  }

  get runner(): Runner {
    this.#runner ??= sharedRunner(moduleKey(this.written.module), () => this.written.module);
    return this.#runner;
  }

  get written(): Written {
    this.#written ??= this.#write();
    return this.#written;
  }

  async toExecutable(): Promise<Executable> {
    const { compile } = await import('../compiler/compile.ts');
    return compile(this.written.module);
  }

  /** Writes a call of a function in the body of another program; runs the program elsewhere. */
  call(args: unknown): unknown {
    const frame = currentFrame();
    return frame === undefined ? this.#run(args) : this.#callIn(frame, args);
  }

  #write(): Written {
    const trace = new Trace();
    trace.names.set(this, 'main');
    this.#writeInto(trace, 'main');
    const main = trace.functions.get('main');
    if (main === undefined) throw new Error('internal: a program without main');
    const result = this.#results.get(trace);
    const type = main.resultType ?? trace.inference.of(main.body);
    const types = partsOf(type, leavesOf(result, isResultLeaf).length);
    return { module: trace.module, result, types };
  }

  /** Writes the function down, once for a module; gives its name there. */
  #nameIn(trace: Trace): string {
    const known = trace.names.get(this);
    if (known !== undefined) return known;
    const { options, body } = this.#source;
    const name = trace.reserve((options.name ?? body.name) || 'program');
    trace.names.set(this, name);
    this.#writeInto(trace, name);
    return name;
  }

  #writeInto(trace: Trace, name: string): void {
    const { params, result, body } = this.#source;
    declareTypes(trace, params);
    const frame = new Frame(trace);
    const leaves = leavesOf(params, isLeafSpec);
    const variables = leaves.map(({ path, leaf }) => variableOf(path || 'x', typeOfLeaf(leaf)));
    let next = 0;
    const args = mapTree(params, isLeafSpec, (leaf) => {
      const variable = variables[next++] as Expr;
      const spec = leaf.kind === 'data' ? leaf : undefined;
      return valueOf(frame, variable, { type: typeOfLeaf(leaf), spec });
    });
    const marks = name === 'main' ? {} : { private: true as const };
    if (result !== undefined) {
      declareTypes(trace, result);
      const tree = mapTree(result, isLeafSpec, (leaf, path) => resultLeaf(leaf, path));
      this.#results.set(trace, tree);
      // The body may call it.
      const resultType = typeOfAll(
        leavesOf(result, isLeafSpec).map(({ leaf }) => typeOfLeaf(leaf)),
      );
      trace.functions.set(name, { ...func(variables, tuple([]), marks), resultType });
    }
    const self = (given: unknown): unknown => this.call(given);
    const returned = inFrame(frame, () => callUser(() => body(args as never, self as never)));
    const written = inFrame(frame, () =>
      result === undefined
        ? writtenLeaves(frame, returned)
        : writtenAs(frame, result, { given: returned, where: 'result' }),
    );
    this.#finish(
      trace,
      { name, fn: func(variables, bundle(written.map(({ expr }) => expr)), marks) },
      written,
    );
    if (result !== undefined) return;
    this.#results.set(trace, treeOf(returned, written));
  }

  #finish(
    trace: Trace,
    { name, fn }: { readonly name: string; readonly fn: FunctionExpr },
    written: readonly WrittenLeaf[],
  ): void {
    const declared = trace.functions.get(name)?.resultType;
    if (declared !== undefined) requireFits(written, partsOf(declared, written.length));
    const resultNames = written.map(({ path }) => path || 'result');
    const attributes = name === 'main' ? { ...fn.attributes, resultNames } : fn.attributes;
    trace.functions.set(name, {
      ...fn,
      ...(declared && { resultType: declared }),
      attributes,
    });
  }

  #callIn(frame: Frame, args: unknown): unknown {
    const { trace } = frame;
    const name = inFrame(frame, () => this.#nameIn(trace));
    const result = this.#results.get(trace);
    if (result === undefined) {
      throw new UsageError({
        where: siteOr(name),
        got: `a call of ${name} in its own body`,
        expected: 'a program that says what it gives',
        remedy: 'Give the type of the result: program(params, result, body).',
      });
    }
    const { params } = this.#source;
    const given = writtenAs(frame, params, { given: args, where: 'arguments' });
    const exprs = given.map(({ expr }) => expr);
    const call = callFunction(global(name), exprs, callSite());
    const count = leavesOf(result, isResultLeaf).length;
    const types = partsOf(trace.inference.of(call), count);
    let next = 0;
    return mapTree(result, isResultLeaf, ({ spec }) => {
      const index = next++;
      const type = types[index] ?? tensorType({ dtype: 'float32', shape: [] });
      return valueOf(frame, count === 1 ? call : projection(call, index), { type, spec });
    });
  }

  #run(args: unknown): unknown {
    const { params } = this.#source;
    const { result, types } = this.written;
    const sizes = new DimValues();
    const places = zipTree(params, isLeafSpec, { given: args, where: 'arguments' });
    const isElsewhere = optionsOf(this.#source.options) !== undefined;
    const bound = places.map(({ leaf, value, path }) =>
      bind(leaf, value, { path, sizes, isElsewhere }),
    );
    const results = this.runner.run(bound);
    results.catch(() => undefined);
    let next = 0;
    return mapTree(result, isResultLeaf, ({ spec }) => {
      const index = next++;
      if (spec !== undefined) {
        const value = results.then((values) => values[index] ?? null);
        value.catch(() => undefined);
        return new DataValue(spec, { kind: 'result', value });
      }
      return wrap(deviceArray(concrete(types[index], sizes), results, index));
    });
  }
}

function optionsOf(given: ProgramOptions): RunnerOptions | undefined {
  const { name, ...options } = given;
  return Object.keys(given).length === Number(name !== undefined) ? undefined : options;
}

function resultLeaf(leaf: LeafSpec, path: string): ResultLeaf {
  return new ResultLeaf(path, leaf.kind === 'data' ? leaf : undefined);
}

function treeOf(returned: unknown, written: readonly WrittenLeaf[]): unknown {
  let next = 0;
  return mapTree(returned, isValueLeaf, (_, path) => new ResultLeaf(path, written[next++]?.spec));
}

function typeOfAll(types: readonly Type[]): Type {
  const [only] = types;
  return types.length === 1 && only !== undefined ? only : { kind: 'tuple', fields: types };
}

function partsOf(type: Type, count: number): readonly Type[] {
  return count !== 1 && type.kind === 'tuple' ? type.fields : [type];
}

/** Throws ShapeError where the body gives other types than it says. Sizes are compared when it is compiled. */
function requireFits(written: readonly WrittenLeaf[], declared: readonly Type[]): void {
  for (const [index, { type, path }] of written.entries()) {
    const wanted = declared[index];
    if (wanted?.kind !== 'tensor' || type.kind !== 'tensor') continue;
    const isSame = type.dtype === wanted.dtype && type.shape.length === wanted.shape.length;
    const fits = type.shape.every((dim, axis) => {
      const other = wanted.shape[axis];
      return typeof dim !== 'number' || typeof other !== 'number' || dim === other;
    });
    if (isSame && fits) continue;
    throw new ShapeError({
      where: siteOr(path || 'result'),
      got: formatType(type),
      expected: `${formatType(wanted)} as ${path || 'the result'}`,
    });
  }
}

/** An argument of a run. Throws ShapeError or UsageError for one that does not fit. */
function bind(
  leaf: LeafSpec,
  value: unknown,
  {
    path,
    sizes,
    isElsewhere,
  }: {
    readonly path: string;
    readonly sizes: DimValues;
    /** The program has options of its own. */
    readonly isElsewhere: boolean;
  },
): Argument {
  const place = path || 'the argument';
  if (leaf.kind === 'data') {
    if (!(value instanceof DataValue) || value.spec.name !== leaf.name) {
      throw wrongLeaf(leaf, value, place);
    }
    const { dataState } = value;
    if (dataState.kind === 'traced') throw wrongLeaf(leaf, value, place);
    return { value: dataState.value };
  }
  if (value instanceof DataValue || value === undefined || value === null) {
    throw wrongLeaf(leaf, value, place);
  }
  const state = stateOf(value as Operand, leaf.dtype);
  requireLive(state);
  requireType(state.type, leaf, { place, sizes });
  realize([state]);
  if (state.expr.kind !== 'var') throw wrongLeaf(leaf, value, place);
  return isElsewhere ? dataOf(state.expr) : argumentOf(state.expr);
}

/** Throws ShapeError for an array of another type than that of a parameter, or a field. */
export function requireType(
  { dtype, shape }: TensorTypeNode,
  leaf: LeafSpec & { kind: 'array' },
  { place, sizes }: { readonly place: string; readonly sizes: DimValues },
): void {
  const isKnown = shape.every((dim) => typeof dim === 'number');
  let fits = dtype === leaf.dtype && shape.length === leaf.shape.length;
  if (fits && isKnown) {
    fits = leaf.shape.every((dim, axis) => {
      if (typeof dim === 'number') return dim === shape[axis];
      const known = dim === '?' ? undefined : sizes.of(dim);
      return known === undefined || known === shape[axis];
    });
    if (fits) sizes.learn(leaf.shape, shape);
  }
  if (fits) return;
  const names = leaf.shape.flatMap((dim) => {
    const known = typeof dim === 'number' || dim === '?' ? undefined : sizes.of(dim);
    return known === undefined ? [] : [`${formatDim(dim)} is ${known}`];
  });
  const because = names.length === 0 ? '' : ` (${names.join(', ')})`;
  throw new ShapeError({
    where: siteOr(place),
    got: `${formatType(tensorType({ dtype, shape }))} for ${place}`,
    expected: formatType(typeOfLeaf(leaf)) + because,
  });
}

/** The type of a result with the sizes of a call; `?` for those that only the run tells. */
function concrete(type: Type | undefined, sizes: DimValues): TensorTypeNode {
  if (type?.kind !== 'tensor') throw new Error('internal: a result that is no tensor');
  const shape = type.shape.map((dim) => (dim === '?' ? dim : (sizes.of(dim) ?? '?')));
  return tensorType({ dtype: type.dtype, shape });
}

import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import { UsageError } from '../../../core/errors.ts';
import { func, tuple, variableOf } from '../../../compiler/ir/build.ts';
import type { Expr, FunctionExpr } from '../../../compiler/ir/expr.ts';
import { computeScopes } from '../../../compiler/ir/walk/scopes.ts';
import { tensorType } from '../../../compiler/ir/type.ts';
import { postOrder, rewrite } from '../../../compiler/ir/walk/visit.ts';
import { siteOr } from '../../call-site.ts';
import { LOOP_CONSTRUCTS } from '../../recursive-function.ts';
import { Frame, type Trace } from '../../trace.ts';
import { Mapper } from './mapper.ts';
import {
  allMapped,
  eitherFlags,
  type Flags,
  type FunctionMapping,
  isAny,
  type MappedFunction,
  type MappedPlaces,
  mappedType,
} from './mapped-value.ts';

interface Writing extends MappedFunction {
  params: readonly Flags[];
}

/** Functions of a module over mapped axes, each written once for what is mapped of its parameters. */
export class MappedFunctions implements FunctionMapping {
  readonly trace: Trace;
  readonly #known = new Map<string, MappedFunction>();
  /** Those that call themselves and are being written. */
  readonly #writing = new Map<string, Writing>();

  constructor(trace: Trace) {
    this.trace = trace;
  }

  of(name: string, params: readonly Flags[], places: MappedPlaces): MappedFunction {
    const writing = this.#writing.get(name);
    if (writing !== undefined) {
      // Another step maps what the first one does not: the function is written again for all of that.
      writing.params = writing.params.map((flags, i) => eitherFlags(flags, params[i] ?? false));
      return writing;
    }
    const { size, depth } = places;
    const key = `${name} ${JSON.stringify([params, depth > 0])} ${typeof size === 'number' ? size : ''}`;
    const known = this.#known.get(key) ?? this.#write(name, params, places);
    this.#known.set(key, known);
    return known;
  }

  #write(name: string, params: readonly Flags[], places: MappedPlaces): MappedFunction {
    const fn = this.#complete(name);
    if (!this.#reaches(fn, name)) return this.#writeOnce(fn, { name, params, places });
    for (let given = params; ; ) {
      const result = fn.resultType === undefined ? true : allMapped(fn.resultType);
      const writing: Writing = {
        name: this.trace.reserve(`${name}_mapped`),
        params: given,
        result,
        unfinished: {
          construct: LOOP_CONSTRUCTS.get(fn) ?? `the recursion of ${name}`,
          depth: places.depth,
        },
      };
      this.#writing.set(name, writing);
      const made = this.#writeOnce(fn, { name, params: given, places, writing });
      this.#writing.delete(name);
      if (JSON.stringify(writing.params) === JSON.stringify(given)) return made;
      this.trace.functions.delete(made.name);
      given = writing.params;
    }
  }

  #writeOnce(
    fn: FunctionExpr,
    {
      name,
      params,
      places: { size, depth },
      writing,
    }: {
      readonly name: string;
      readonly params: readonly Flags[];
      readonly places: MappedPlaces;
      readonly writing?: Writing;
    },
  ): MappedFunction {
    const { functions, inference } = this.trace;
    const own = writing?.name ?? this.trace.reserve(`${name}_mapped`);
    // The symbols of a function are its own.
    const inside = typeof size === 'number' ? size : freshSymbol(fn);
    const frame = new Frame(this.trace);
    const copy = withOwnVariables(fn);
    const scopes = computeScopes(copy);
    const bools = tensorType({ dtype: 'bool', shape: [inside] });
    const mask = depth > 0 ? variableOf('mask', bools) : undefined;
    const mapper = new Mapper({ functions: this, frame, size: inside, scopes, mask, depth });
    const variables = copy.params.map((param, i) => {
      if (param.type === undefined)
        throw new Error(`internal: a parameter of ${name} without type`);
      const flags = params[i] ?? false;
      if (!isAny(flags)) return param;
      const variable = variableOf(param.name, mappedType(param.type, flags, inside));
      mapper.set(param, { expr: variable, flags });
      return variable;
    });
    if (mask !== undefined) variables.unshift(mask);
    const type = fn.resultType ?? inference.of(fn.body);
    const marks = { private: true } as const;
    const resultType = writing && mappedType(type, writing.result, inside);
    if (resultType !== undefined) {
      functions.set(own, { ...func(variables, tuple([]), marks), resultType });
    }
    const { body, result } = mapper.body(copy.body, { type, wanted: writing?.result });
    const made = { ...func(variables, body, marks), ...(resultType && { resultType }) };
    functions.set(own, made);
    return { name: own, params, result };
  }

  #complete(name: string): FunctionExpr {
    const fn = this.trace.functions.get(name);
    const isOpen =
      fn?.body.kind === 'tuple' && fn.body.fields.length === 0 && fn.resultType !== undefined;
    if (fn !== undefined && !isOpen) return fn;
    throw new UsageError({
      where: siteOr('vmap'),
      got: `a call of ${name} in its own body`,
      expected: 'calls of other programs',
    });
  }

  /** Returns true if a function calls the one of this name, directly or by way of others. */
  #reaches(fn: FunctionExpr, name: string): boolean {
    const seen = new Set<string>();
    const work: Expr[] = [fn.body];
    for (let root = work.pop(); root !== undefined; root = work.pop()) {
      for (const expr of postOrder(root)) {
        if (expr.kind !== 'global' || seen.has(expr.name)) continue;
        seen.add(expr.name);
        const body = this.trace.functions.get(expr.name)?.body;
        if (body !== undefined) work.push(body);
      }
    }
    return seen.has(name);
  }
}

/** A variable is bound in one place: a function that stays beside its copy has others. */
function withOwnVariables(fn: FunctionExpr): FunctionExpr {
  const variables = new Map<Expr, Expr>();
  const copy = rewrite(fn, (expr) => {
    if (expr.kind !== 'var') return expr;
    const own = variables.get(expr) ?? { ...expr };
    variables.set(expr, own);
    return own;
  });
  if (copy.kind === 'function') return copy;
  throw new Error('internal: a function that became something else');
}

function freshSymbol(fn: FunctionExpr): string {
  const taken = new Set<string>();
  for (const { type } of fn.params) {
    if (type?.kind !== 'tensor') continue;
    for (const dim of type.shape) forEachSymbol(dim, (symbol) => void taken.add(symbol));
  }
  let name = 'batch';
  for (let i = 2; taken.has(name); i++) name = `batch_${i}`;
  return name;
}

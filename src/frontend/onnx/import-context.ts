import type { Expr, FunctionExpr, VarExpr } from '../../compiler/ir/expr.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import { variableOf } from '../../compiler/ir/build.ts';
import { ANY_TYPE, type TypeDefinition } from '../../compiler/ir/type.ts';
import type { DimBindings } from '../../compiler/passes/dims/bind-dims.ts';
import { TypeInference } from '../../compiler/inference/type-inference.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { FormatError } from '../../core/errors.ts';
import { type NodeCall, type NodeCalls, nodeCallsToJson } from '../../core/contracts/node-calls.ts';
import type { NodeTypes } from '../../core/contracts/node-function.ts';
import type { Operators } from '../../ops/operators.ts';
import type { ImportTraining } from './import-training.ts';
import { BroadcastSizes } from './sizes/broadcast-sizes.ts';
import { NodeFunctions } from './functions/node-functions.ts';
import { canonicalDomain } from './model/operator-sets.ts';
import type { ExternalDataReader } from './protobuf/external-data.ts';
import type { FunctionProto, NodeProto } from './protobuf/schema.ts';
import { type Composite, type Composites, listType, optionType } from './composite-values.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import type { IndexCheck } from '../../core/contracts/index-checks.ts';
import type { SymbolicTensor } from '../../compiler/values/symbolic-tensor.ts';

/**
 * Functions over the lists that sequences are, with elements in their order, and over options. The last one names
 * what else of the prelude importers call.
 */
const LIST_FUNCTIONS = `
  def @"sequence.insert"<A>(%list: List[A], %item: A, %at: int, %before: List[A]) -> List[A] {
    if (%at) {
      match? (%list) {
        Cons(%head, %tail) => @"sequence.insert"(%tail, %item, int_sub(%at, #1), Cons(%head, %before)),
      }
    } else {
      @reverse_onto(%before, Cons(%item, %list))
    }
  }

  def @"sequence.erase"<A>(%list: List[A], %at: int, %before: List[A]) -> List[A] {
    match? (%list) {
      Cons(%head, %tail) =>
        if (%at) { @"sequence.erase"(%tail, int_sub(%at, #1), Cons(%head, %before)) }
        else { @reverse_onto(%before, %tail) },
    }
  }

  def @"sequence.has"<A>(%option: Option[A]) -> int {
    match (%option) { Some(_) => #1, None => #0 }
  }

  def @"sequence.prelude"<A, B>(%f: fn (A) -> B, %list: List[A], %index: int) {
    (@map(%f, %list), @nth(%list, %index), @length(%list), @zip(%list, %list))
  }
`;

interface ImportContextOptions {
  readonly dims: DimBindings;
  readonly localFunctions: readonly FunctionProto[];
  readonly externalData: ExternalDataReader | undefined;
  /** See {@link ImportOptions.check}. */
  readonly check: 'indices' | undefined;
  readonly operators: Operators;
  /** Functions of JavaScript that compute nodes. */
  readonly functions?: NodeTypes | undefined;
  /** Set for a model that is imported to be trained. */
  readonly training?: ImportTraining | undefined;
}

/** The part that the importers of all graphs of a model share. */
export class ImportContext {
  readonly dims: DimBindings;
  readonly externalData: ExternalDataReader | undefined;
  readonly types: TypeInference;
  readonly shapeValues: ShapeValues = new WeakMap();
  /** Sequences and optional values that the importer knows. */
  readonly composites: Composites = new WeakMap();
  /** Elements of tensors that are known in part, `?` for the others. */
  readonly partialValues = new WeakMap<Expr, readonly Dim[]>();
  readonly sizeNames = new Map<string, string>();
  /** Global functions that sub-graphs became, by name. */
  readonly functions = new Map<string, FunctionExpr>();
  /** Names of the dimensions of the model's inputs. */
  readonly symbols = new Set<string>();
  /** The inputs of the main graph, in order. */
  readonly inputs: VarExpr[] = [];
  readonly broadcastSizes = new BroadcastSizes();
  readonly indexChecks = new IndexChecks(this.symbols);
  /** Names of the outputs of nodes, by the names of the nodes. */
  readonly valueNames = new Map<string, readonly string[]>();
  /** True if indices that the program computes are checked too. */
  readonly isEveryIndexChecked: boolean;
  readonly typeDefinitions = new Map<string, TypeDefinition>();
  /** Errors in how graphs are put together: no branch may have one, taken or not. */
  readonly faults = new WeakSet<Error>();
  readonly nodeFunctions: NodeFunctions;
  readonly training: ImportTraining | undefined;
  readonly #nodeCalls = new Map<string, NodeCall>();
  readonly #nodeCallNames = new Map<string, string>();
  readonly #localFunctions: ReadonlyMap<string, FunctionProto>;
  #symbolCount = 0;
  #randomStreams = 0;

  /** Throws FormatError when two functions of the model have one name. */
  constructor(options: ImportContextOptions) {
    const { dims, localFunctions, externalData, check, operators } = options;
    this.types = new TypeInference(undefined, operators);
    this.isEveryIndexChecked = check === 'indices';
    this.dims = dims;
    this.externalData = externalData;
    this.training = options.training;
    this.nodeFunctions = new NodeFunctions(options.functions);
    this.#localFunctions = byName(localFunctions);
  }

  /** The function of the model that a node calls, if it calls one. */
  localFunction({ domain, opType, overload }: NodeProto): FunctionProto | undefined {
    return this.#localFunctions.get(functionKey({ domain, name: opType, overload }));
  }

  /** Takes over the functions and types of a program in text form, where they are not there yet. */
  addProgram(text: string): void {
    const { functions, types } = parseModule(text);
    for (const [name, fn] of functions) if (!this.functions.has(name)) this.functions.set(name, fn);
    for (const [name, type] of types) this.typeDefinitions.set(name, type);
  }

  /** A global function that calls JavaScript for a node, the same for nodes that differ in nothing. */
  nodeFunction(
    call: Omit<NodeCall, 'nodes'>,
    {
      where,
      key: type,
      define,
    }: { where: string; key: string; define: (name: string) => FunctionExpr },
  ): string {
    const key = nodeCallsToJson(new Map([[type, { ...call, nodes: [] }]]));
    const name = this.#nodeCallNames.get(key) ?? this.freshFunctionName(call.operator);
    if (!this.#nodeCallNames.has(key)) this.functions.set(name, define(name));
    this.#nodeCallNames.set(key, name);
    const nodes = new Set([...(this.#nodeCalls.get(name)?.nodes ?? []), where]);
    this.#nodeCalls.set(name, { ...call, nodes: [...nodes] });
    return name;
  }

  /** The calls of nodes that functions of a module make, by these names. */
  nodeCallsOf(names: ReadonlySet<string>): NodeCalls {
    return new Map([...this.#nodeCalls].filter(([name]) => names.has(name)));
  }

  /** Makes lists, options and functions over them known to the program; those that nothing calls are left out of it. */
  useLists(): void {
    if (!this.functions.has('sequence.insert')) this.addProgram(LIST_FUNCTIONS);
  }

  /** An expression for a sequence or an optional value that the importer knows; it is no part of the program. */
  compositeResult(composite: Composite): Expr {
    const type = composite.kind === 'sequence' ? listType(ANY_TYPE) : optionType(ANY_TYPE);
    const expr = variableOf(composite.kind, type);
    this.composites.set(expr, composite);
    return expr;
  }

  /** Makes a symbol of the model's inputs known, so that no other gets its name. */
  takeSymbol(symbol: string): void {
    this.symbols.add(symbol);
  }

  /** The name of a dimension that only the running program knows. */
  freshSymbol(): string {
    for (;;) {
      const symbol = `size${this.#symbolCount++}`;
      if (!this.symbols.has(symbol)) return symbol;
    }
  }

  /** A stream of random numbers that no other node draws from. */
  nextRandomStream(): number {
    return this.#randomStreams++;
  }

  /** A name for a data type that none has; its constructors may begin with it. */
  freshTypeName(wanted: string): string {
    return `${wanted}${this.typeDefinitions.size}`;
  }

  /** A name for a function that none has. */
  freshFunctionName(wanted: string): string {
    for (let count = 0; ; count++) {
      const candidate = count === 0 ? wanted : `${wanted}.${count}`;
      if (candidate !== 'main' && !this.functions.has(candidate)) return candidate;
    }
  }
}

function byName(functions: readonly FunctionProto[]): ReadonlyMap<string, FunctionProto> {
  const found = new Map<string, FunctionProto>();
  for (const fn of functions) {
    const key = functionKey(fn);
    if (found.has(key)) {
      throw new FormatError({
        where: describeFunction(fn),
        got: 'two functions of that name',
        expected: 'each name once in a domain',
      });
    }
    found.set(key, fn);
  }
  return found;
}

function functionKey({
  domain,
  name = '',
  overload = '',
}: Pick<FunctionProto, 'domain' | 'name' | 'overload'>): string {
  return JSON.stringify([canonicalDomain(domain), name, overload]);
}

/** `function com.example.Gelu` */
export function describeFunction({ domain, name = '' }: FunctionProto): string {
  const prefix = canonicalDomain(domain);
  return `function ${prefix === '' ? name : `${prefix}.${name}`}`;
}

/**
 * Results of shape arithmetic so far, by their variables. No program reads
 * these variables: whoever takes one takes its value.
 */
export type ShapeValues = WeakMap<Expr, SymbolicTensor>;

/** The demands of the main graph on the indices that it is called with. */
class IndexChecks {
  readonly #checks: IndexCheck[] = [];
  /** Symbols of the inputs' dimensions. */
  readonly #symbols: ReadonlySet<string>;
  /** Symbols that are elements of inputs. */
  readonly #sizes = new Map<string, { readonly parameter: number; readonly element: number }>();

  constructor(symbols: ReadonlySet<string>) {
    this.#symbols = symbols;
  }

  /** A dimension that a call brings with it, as an element of a parameter. */
  addSize(symbol: string, parameter: number, element: number): void {
    this.#sizes.set(symbol, { parameter, element });
  }

  /** False where the range depends on what only the running program knows. */
  add(check: Omit<IndexCheck, 'function' | 'sizes'>): boolean {
    const sizes: Record<string, { readonly parameter: number; readonly element: number }> = {};
    let isKnown = true;
    for (const dim of [...check.lower, ...check.below]) {
      // Beyond 2^53 nothing is counted; a tensor of that size is refused elsewhere.
      if (dim === '?' || (typeof dim === 'number' && !Number.isSafeInteger(dim))) isKnown = false;
      forEachSymbol(dim, (symbol) => {
        const size = this.#sizes.get(symbol);
        if (size !== undefined) sizes[symbol] = size;
        else if (!this.#symbols.has(symbol)) isKnown = false;
      });
    }
    if (!isKnown) return false;
    const given = Object.keys(sizes).length === 0 ? {} : { sizes };
    this.#checks.push({ function: 'main', ...check, ...given });
    return true;
  }

  /** The checks as the metadata of an executable has them; empty for none. */
  toJson(): string {
    return this.#checks.length === 0 ? '' : JSON.stringify(this.#checks);
  }
}

import { budgetInForce, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import { func, moduleOf, tuple, variable, variableOf } from '../../compiler/ir/build.ts';
import {
  type Expr,
  type FunctionExpr,
  type Module,
  type Span,
  spanOf,
  type VarExpr,
} from '../../compiler/ir/expr.ts';
import { childrenOf, postOrder, rewrite } from '../../compiler/ir/walk/visit.ts';
import {
  type DimBindings,
  requireKnownDims,
  unboundDim,
} from '../../compiler/passes/dims/bind-dims.ts';
import { checkOptions, oneOf, type OptionKinds, requireBytes } from '../../core/check-options.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { requireCoreOperators } from '../../compiler/inference/checks/require-core-operators.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { INDEX_CHECKS } from '../../core/contracts/index-checks.ts';
import { VALUE_NAMES, valueNamesToJson } from '../../core/contracts/value-names.ts';
import { elementCount, formatShape } from '../../core/tensor/shape.ts';
import { refuseOtherFile } from '../../core/bytes/sniff.ts';
import { nodeCallsToJson } from '../../core/contracts/node-calls.ts';
import { NODE_CALLS } from '../../core/contracts/node-calls-key.ts';
import type { NodeTypes } from '../../core/contracts/node-function.ts';
import type { Importers } from './importers.ts';
import { importerTable } from './importer-table.ts';
import { GraphImporter } from './graph-importer.ts';
import { Block, FunctionFrame } from './graph-scope.ts';
import { ImportContext } from './import-context.ts';
import { closedType } from './composite-values.ts';
import { declaredDataType, declaredDim } from './model/declared-type.ts';
import type { ImportTraining } from './import-training.ts';
import { OperatorSets } from './model/operator-sets.ts';
import { rankFromUse } from './model/rank-from-use.ts';
import type { ExternalDataReader } from './protobuf/external-data.ts';
import { readMessage } from './protobuf/read-message.ts';
import { dtypeFromOnnx } from './protobuf/read-tensor.ts';
import type { GraphProto, ModelProto, ValueInfoProto } from './protobuf/schema.ts';
import { placeOfFunction, withPlace } from '../../compiler/ir/place.ts';

/** How a model is read. */
export interface ImportOptions {
  /**
   * Numbers for symbolic dimensions of the model's inputs, by name; a dimension without a name goes
   * by `input.axis`, such as `data.0`, and the rank of an input without a shape by `data.rank`.
   */
  readonly dims?: DimBindings | undefined;
  /** Reads tensors that lie in other files than the model. */
  readonly externalData?: ExternalDataReader | undefined;
  /**
   * `indices`: indices that the program computes are checked while it runs, and one that is out of bounds
   * stops it. Each operator that takes such indices then waits for them and moves them to the processor
   * and back. Constants, and indices that a call brings with it, are always checked.
   */
  readonly check?: 'indices' | undefined;
  /** The most that importing may take, see {@link CompileLimits}. */
  readonly compileLimits?: CompileLimits | undefined;
  /** The operators that importers may make: the core operators, which is the default, and others. */
  readonly operators?: Operators | undefined;
  /** Importers for operators that Weft does not read, by domain and name. ONNX's own domain is `''`. */
  readonly importers?: Importers | undefined;
  /**
   * Types of functions of JavaScript that compute nodes of other domains, by `my.domain::Op`. Whoever loads the
   * program supplies the functions under these names.
   */
  readonly functions?: NodeTypes | undefined;
}

/** Kinds of {@link ImportOptions}. */
export const IMPORT_OPTIONS: OptionKinds<ImportOptions> = {
  dims: 'sizes',
  externalData: 'function',
  check: oneOf('indices'),
  compileLimits: 'object',
  operators: 'operators',
  importers: 'object',
  functions: 'object',
};

/**
 * Reads an ONNX model (a serialized ModelProto) into a module whose `main` takes the graph's inputs
 * and gives its outputs, under their names. Sub-graphs of loops become functions of their own.
 *
 * Throws FormatError for bytes that are no valid model, and one UnsupportedError that lists every
 * node that cannot be imported, CompileLimitError at a limit.
 */
export function importOnnx(bytes: Uint8Array, options: ImportOptions = {}): Module {
  checkOptions<ImportOptions>('importOnnx', options, IMPORT_OPTIONS);
  return new CompileBudget(options.compileLimits).run(() => importWithin(bytes, options));
}

interface TrainingImportOptions extends ImportOptions {
  /** Takes initializers as parameters, and observes results. */
  readonly training?: ImportTraining | undefined;
}

/** {@link importOnnx} within the budget in force. */
export function importWithin(bytes: Uint8Array, options: TrainingImportOptions): Module {
  const budget = budgetInForce();
  requireBytes('ONNX model', bytes);
  budget?.addWeights(bytes.byteLength);
  refuseOtherFile(bytes, { where: 'ONNX model', expected: 'a ModelProto' });
  return importModel(readMessage('ModelProto', bytes), options);
}

/** {@link importWithin} of a model that is read. */
export function importModel(model: ModelProto, options: TrainingImportOptions): Module {
  const budget = budgetInForce();
  const { graph } = model;
  if (graph === undefined) {
    throw new FormatError({
      where: 'ONNX model',
      got: 'no graph',
      expected: 'a ModelProto with a graph',
      remedy: 'The file may be truncated or of another format.',
    });
  }
  const functionNodes = model.functions.reduce((count, { node }) => count + node.length, 0);
  budget?.addWrittenNodes(graph.node.length + functionNodes);
  return importGraph(model, graph, options);
}

function importGraph(
  model: ModelProto,
  graph: GraphProto,
  {
    dims = {},
    externalData,
    check,
    operators = CORE_OPERATORS,
    importers,
    functions,
    training,
  }: TrainingImportOptions,
): Module {
  requireCoreOperators(operators);
  const context = new ImportContext({
    dims,
    operators,
    localFunctions: model.functions,
    externalData,
    check,
    functions,
    training,
  });
  const frame = new FunctionFrame(context);
  const block = new Block(context, frame);
  const graphContext = {
    context,
    importers: importerTable(importers, operators, context.nodeFunctions),
    operatorSets: OperatorSets.of(model.opsetImport, 'ONNX model'),
    attributes: undefined,
    place: '',
    calls: [],
  };
  const importer = new GraphImporter(graphContext, block);
  importer.readInitializers(graph);
  const params = readInputs(graph, importer, context);
  // A training program has other parameters, by whose places its checks would go.
  if (training === undefined) context.inputs.push(...params);
  requireKnownDims('dims', dims, context.symbols);
  for (const param of params) if (param.type !== undefined) frame.addCarriers(param, param.type);
  const outputs = outputNames(graph);
  const body = { nodes: graph.node, outputs, absent: new Set<string>() };
  const results = importer.readTensors(body);
  const finished = training?.finish({ params, outputs, results, types: context.types });
  const main = func(
    finished?.params ?? params,
    block.wrap(resultOf(finished?.results ?? results)),
    { resultNames: finished?.outputs ?? outputs },
  );
  return moduleWith(main, context, {
    producer: model.producerName,
    graph: graph.name,
    [INDEX_CHECKS]: context.indexChecks.toJson(),
    [VALUE_NAMES]: valueNamesToJson(context.valueNames),
  });
}

function resultOf(results: readonly Expr[]): Expr {
  const [first] = results;
  if (first === undefined) {
    throw new FormatError({ where: 'ONNX graph', got: 'no outputs', expected: 'one or more' });
  }
  return results.length === 1 ? first : tuple(results);
}

/** A module of `main` and of the functions that it calls, with facts about it. */
export function moduleWith(
  main: FunctionExpr,
  context: ImportContext,
  facts: Readonly<Record<string, string | undefined>>,
): Module {
  const { functions, typeDefinitions } = context;
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined && value !== '') metadata[name] = value;
  }
  const used = usedFunctions(main, functions);
  const calls = context.nodeCallsOf(new Set(used.map(([name]) => name)));
  if (calls.size > 0) metadata[NODE_CALLS] = nodeCallsToJson(calls);
  const placed = [['main', main] as const, ...used].map(([name, fn]) => [name, inheritPlaces(fn)]);
  return moduleOf(Object.fromEntries(placed), metadata, [...typeDefinitions.values()]);
}

/** Without those of loops on ways that could not be imported to their ends. */
function usedFunctions(
  main: FunctionExpr,
  functions: ReadonlyMap<string, FunctionExpr>,
): [string, FunctionExpr][] {
  const used = new Set<string>();
  const work: FunctionExpr[] = [main];
  for (let fn = work.pop(); fn !== undefined; fn = work.pop()) {
    for (const expr of postOrder(fn.body)) {
      if (expr.kind !== 'global' || used.has(expr.name)) continue;
      used.add(expr.name);
      const callee = functions.get(expr.name);
      if (callee !== undefined) work.push(callee);
    }
  }
  return [...functions].filter(([name]) => used.has(name));
}

/** An input that an initializer gives a default for is a constant. */
function readInputs(graph: GraphProto, importer: GraphImporter, context: ImportContext): VarExpr[] {
  const seen = new Set<string>();
  const params: VarExpr[] = [];
  for (const info of graph.input) {
    const name = info.name ?? '';
    if (seen.has(name)) throw duplicate(`input "${name}"`);
    seen.add(name);
    if (importer.has(name)) continue;
    requireName(name, 'input');
    const param = inputVariable(info, graph, context);
    params.push(param);
    importer.define(name, param, 'input');
  }
  return params;
}

/** An output that is listed twice is one value under one name. */
function outputNames(graph: GraphProto): string[] {
  const names = new Set(graph.output.map(({ name }) => name ?? ''));
  for (const name of names) requireName(name, 'output');
  return [...names];
}

function duplicate(where: string): FormatError {
  return new FormatError({ where, got: 'two of that name', expected: 'each name once' });
}

/** Callers know inputs and outputs by name, and executables bound its length. */
function requireName(name: string, what: string): void {
  if (name !== '' && name.length <= 1024) return;
  throw new FormatError({
    where: 'ONNX graph',
    got: `an ${what} with a name of ${name.length} characters`,
    expected: '1 to 1024',
  });
}

/** The size of a name inside a sequence, whose tensors may have others each where none is given. */
function boundSize(name: string, { dims, symbols }: ImportContext): Dim {
  symbols.add(name);
  return Object.hasOwn(dims, name) ? (dims[name] ?? '?') : '?';
}

function inputVariable(info: ValueInfoProto, graph: GraphProto, context: ImportContext): VarExpr {
  const name = info.name ?? '';
  const where = `input "${name}"`;
  const tensor = info.type?.tensorType;
  if (tensor === undefined) {
    const type =
      info.type && declaredDataType(info.type, where, (size) => boundSize(size, context));
    if (type !== undefined) {
      context.useLists();
      return variableOf(name, closedType(type), { source: name });
    }
    throw new UnsupportedError({
      where,
      got: info.type === undefined ? 'no type' : 'a map or a sparse tensor',
      expected: 'a tensor, a sequence or an optional value',
    });
  }
  const dtype = dtypeFromOnnx(tensor.elemType, where);
  const declared = tensor.shape?.dim.map(declaredDim) ?? unknownDims(name, graph, context);
  const symbols = declared.map((dim, axis): Dim => dim ?? `${name}.${axis}`);
  const shape = symbols.map((dim, axis): Dim => {
    if (typeof dim === 'string') context.takeSymbol(dim);
    // Own names only: every object has a `constructor`.
    const isBound = typeof dim === 'string' && Object.hasOwn(context.dims, dim);
    const value = isBound ? (context.dims[dim] ?? dim) : dim;
    if (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0)) return value;
    const type = `Tensor[${formatShape(symbols.map(String))}, ${dtype}]`;
    throw unboundDim(where, { dim, axis, type });
  });
  const known = shape.filter((dim) => typeof dim === 'number');
  if (!Number.isSafeInteger(elementCount(known))) {
    throw new FormatError({
      where,
      got: `shape ${formatShape(shape.map(formatDim))}`,
      expected: 'dimensions with a product below 2^53',
    });
  }
  return variable(name, dtype, shape, { source: name });
}

/** Executables bound the rank of tensors. */
const MAX_RANK = 32;

/** The dimensions of an input that the model declares without a shape, of the rank that `dims` or its use gives. */
function unknownDims(name: string, graph: GraphProto, { dims, symbols }: ImportContext) {
  const key = `${name}.rank`;
  symbols.add(key);
  const rank = Object.hasOwn(dims, key) ? dims[key] : rankFromUse(name, graph);
  if (rank !== undefined && rank <= MAX_RANK) return Array<undefined>(rank).fill(undefined);
  throw new UnsupportedError({
    where: `input "${name}"`,
    got: rank === undefined ? 'no shape, and no use that tells its rank' : `a rank of ${rank}`,
    expected: `a rank up to ${MAX_RANK}`,
    remedy: `Give the number of its dimensions: --dim ${key}=2, or dims: { ${JSON.stringify(key)}: 2 }.`,
  });
}

/**
 * The function with a place for all that can fail in it: what an importer has made without one, such as arithmetic
 * on sizes, is there for the node that reads it first.
 */
function inheritPlaces(fn: FunctionExpr): FunctionExpr {
  const places = new Map<Expr, Span>();
  const fallback = placeOfFunction(fn);
  if (fallback !== undefined) places.set(fn, fallback);
  // Readers come before what they read, the last ones first.
  for (const expr of postOrder(fn).toReversed()) {
    const own = spanOf(expr) ?? places.get(expr);
    for (const child of childrenOf(expr)) {
      const bound = expr.kind === 'let' && child === expr.value ? expr.variable.span : undefined;
      const place = bound ?? own;
      if (place !== undefined) places.set(child, place);
    }
  }
  const placed = rewrite(fn, (expr, original) => withPlace(expr, places.get(original)));
  return placed.kind === 'function' ? placed : fn;
}

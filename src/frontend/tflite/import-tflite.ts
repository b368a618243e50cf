import { budgetInForce, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import { func, tuple } from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../../compiler/ir/expr.ts';
import { requireCoreOperators } from '../../compiler/inference/checks/require-core-operators.ts';
import { requireKnownDims } from '../../compiler/passes/dims/bind-dims.ts';
import { refuseOtherFile } from '../../core/bytes/sniff.ts';
import { checkOptions, requireBytes } from '../../core/check-options.ts';
import { INDEX_CHECKS } from '../../core/contracts/index-checks.ts';
import { VALUE_NAMES, valueNamesToJson } from '../../core/contracts/value-names.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { ImportContext } from '../onnx/import-context.ts';
import { IMPORT_OPTIONS, type ImportOptions, moduleWith } from '../onnx/import-onnx.ts';
import { importerTable } from '../onnx/importer-table.ts';
import { LiteGraphs } from './lite-graphs.ts';
import { modelOfBundle } from './reader/bundle.ts';
import { type LiteModel, readModel, type Signature } from './reader/read-model.ts';

/**
 * Reads a TensorFlow Lite model, or the model of a `.task` bundle, into a module whose `main` takes the first graph's inputs and
 * gives its outputs, under the names that a signature gives them, else those of its tensors.
 *
 * Throws FormatError for bytes that are no valid model, and one UnsupportedError that lists every
 * operator that cannot be imported, CompileLimitError at a limit.
 */
export function importTflite(bytes: Uint8Array, options: ImportOptions = {}): Module {
  checkOptions<ImportOptions>('importTflite', options, IMPORT_OPTIONS);
  return new CompileBudget(options.compileLimits).run(() => importWithin(bytes, options));
}

/** No part of a model lies in other files. */
export const hasExternalData = (): boolean => false;

export const externalRanges = (): readonly never[] => [];

/** {@link importTflite} within the budget in force. */
export function importWithin(bytes: Uint8Array, options: ImportOptions): Module {
  const budget = budgetInForce();
  requireBytes('TensorFlow Lite model', bytes);
  budget?.addWeights(bytes.byteLength);
  const file = modelOfBundle(bytes);
  refuseOtherModel(file);
  const model = readModel(file);
  const operators = model.graphs.reduce((sum, graph) => sum + graph.operators.length, 0);
  budget?.addWrittenNodes(operators, 'TensorFlow Lite model');
  return importModel(model, options);
}

function refuseOtherModel(bytes: Uint8Array): void {
  const isModel = String.fromCharCode(...bytes.subarray(4, 8)) === 'TFL3';
  if (isModel) return;
  refuseOtherFile(bytes, { where: 'TensorFlow Lite model', expected: 'a .tflite model' });
}

function importModel(
  model: LiteModel,
  { dims = {}, check, operators = CORE_OPERATORS, importers, functions }: ImportOptions,
): Module {
  requireCoreOperators(operators);
  const context = new ImportContext({
    dims,
    operators,
    localFunctions: [],
    externalData: undefined,
    check,
    functions,
  });
  const table = importerTable(importers, operators, context.nodeFunctions);
  const graphs = new LiteGraphs(model, context, table);
  const signature: Signature | undefined = model.signatures.find(({ graph }) => graph === 0);
  const { params, results, outputs, block } = graphs.importMain(signature);
  requireKnownDims('dims', dims, context.symbols);
  const main: FunctionExpr = func(params, block.wrap(resultOf(results)), { resultNames: outputs });
  return moduleWith(main, context, {
    producer: model.description,
    graph: model.graphs[0].name,
    [INDEX_CHECKS]: context.indexChecks.toJson(),
    [VALUE_NAMES]: valueNamesToJson(context.valueNames),
  });
}

function resultOf(results: readonly Expr[]): Expr {
  const [first] = results;
  return results.length === 1 && first !== undefined ? first : tuple(results);
}

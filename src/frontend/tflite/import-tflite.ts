import { requireCoreOperators } from '../../compiler/inference/checks/require-core-operators.ts';
import { func, tuple } from '../../compiler/ir/build.ts';
import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import type { Module } from '../../compiler/ir/expr.ts';
import { refuseOtherFile } from '../../core/bytes/sniff.ts';
import { requireBytes } from '../../core/check-options.ts';
import { INDEX_CHECKS } from '../../core/contracts/index-checks.ts';
import { VALUE_NAMES, valueNamesToJson } from '../../core/contracts/value-names.ts';
import { FormatError } from '../../core/errors.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { Block, FunctionFrame } from '../onnx/graph-scope.ts';
import { ImportContext } from '../onnx/import-context.ts';
import { type ImportOptions, moduleWith } from '../onnx/import-onnx.ts';
import { importerTable } from '../onnx/importer-table.ts';
import { LiteGraphs } from './lite-graphs.ts';
import { modelOfBundle } from './reader/bundle.ts';
import { type LiteModel, readModel } from './reader/read-model.ts';

/** Loaded with it: bundlers of pages with programs make one more file of what both share otherwise. */
export { takeTurns } from '../take-turns.ts';

const WHERE = 'TensorFlow Lite model';

/** No part of a model lies in another file. */
export const externalRanges = (): readonly never[] => [];

/** `importTflite` within the budget in force. */
export function importWithin(bytes: Uint8Array, options: ImportOptions): Module {
  const budget = budgetInForce();
  requireBytes(WHERE, bytes);
  budget?.addWeights(bytes.byteLength);
  const file = modelOfBundle(bytes);
  const isModel = String.fromCharCode(...file.subarray(4, 8)) === 'TFL3';
  if (!isModel) refuseOtherFile(file, { where: WHERE, expected: 'a .tflite model' });
  const model = readModel(file);
  const operators = model.graphs.reduce((sum, graph) => sum + graph.operators.length, 0);
  budget?.addWrittenNodes(operators, WHERE);
  return importModel(model, options);
}

function importModel(
  model: LiteModel,
  { dims = {}, check, operators = CORE_OPERATORS, importers, functions }: ImportOptions,
): Module {
  requireCoreOperators(operators);
  const localFunctions: [] = [];
  const given = { dims, operators, check, functions, localFunctions, externalData: undefined };
  const context = new ImportContext(given);
  const block = new Block(context, new FunctionFrame(context));
  const table = importerTable(importers, operators, context.nodeFunctions);
  const graphs = new LiteGraphs(model, { context, block, importers: table });
  const { params, results, outputs } = graphs.importMain();
  const [first] = results;
  if (first === undefined) {
    throw new FormatError({ where: 'graph 0', got: 'no outputs', expected: 'one or more' });
  }
  const result = block.wrap(results.length === 1 ? first : tuple(results));
  return moduleWith(func(params, result, { resultNames: outputs }), context, {
    producer: model.description,
    graph: model.graphs[0].name,
    [INDEX_CHECKS]: context.indexChecks.toJson(),
    [VALUE_NAMES]: valueNamesToJson(context.valueNames),
  });
}

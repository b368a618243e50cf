import type { Module } from '../../compiler/ir/expr.ts';
import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import type { ExternalRange } from '../onnx/protobuf/external-data.ts';
import { ImportNode } from '../onnx/import-node.ts';
import type { Importers, OnnxNode } from '../onnx/importers.ts';
import { importModel, type ImportOptions } from '../onnx/import-onnx.ts';
import { Refusals } from '../onnx/refusals.ts';
import { type GraphModel, readGraphModel } from './graph-model.ts';
import { onnxModel } from './onnx-graph.ts';
import { TENSORFLOW_OPERATORS } from './operators/index.ts';
import { TENSORFLOW } from './protos.ts';
import { weightFiles } from './read-weights.ts';
import { type TensorflowImporter, TensorflowNode } from './tensorflow-node.ts';

/**
 * Reads a TensorFlow.js graph model, its `model.json`, into a module whose `main` takes its placeholders and gives the
 * values of its signature. The option `externalData` reads the files of weights beside it.
 *
 * Throws FormatError for bytes that are no valid model, one UnsupportedError that lists every node that cannot be imported
 * or says why the model cannot, CompileLimitError at a limit.
 */
export function importWithin(bytes: Uint8Array, options: ImportOptions): Module {
  budgetInForce()?.addWeights(bytes.byteLength);
  const graph = readGraphModel(bytes);
  requireKnown(graph, options);
  const model = onnxModel(graph, options.externalData);
  const importers = {
    ...options.importers,
    [TENSORFLOW]: { ...options.importers?.[TENSORFLOW], ...OWN },
  };
  return importModel(model, { ...options, importers, externalData: undefined });
}

/** Nodes that are written in other ways, see `control-flow.ts`. */
const FLOW: ReadonlySet<string> = new Set(
  (
    'Const NoOp Placeholder Enter Exit Merge NextIteration Switch LoopCond If StatelessIf ' +
    'While StatelessWhile'
  ).split(' '),
);

/** Throws UnsupportedError, which lists all nodes whose operator nobody has. */
function requireKnown(
  { nodes, functions }: GraphModel,
  { importers, functions: own = {} }: ImportOptions,
): void {
  const refusals = new Refusals();
  const all = [...nodes, ...[...functions.values()].flatMap((fn) => fn.nodes)];
  for (const { name, op } of all) {
    const isOwn = importers?.[TENSORFLOW]?.[op] !== undefined || `${TENSORFLOW}::${op}` in own;
    if (FLOW.has(op) || Object.hasOwn(TENSORFLOW_OPERATORS, op) || isOwn) continue;
    refusals.addUnknownOperator(`node "${name}" (${op})`, op);
  }
  refusals.throwIfAny('TensorFlow.js model');
}

/** The files of weights. */
export function externalRanges(bytes: Uint8Array): readonly ExternalRange[] {
  return weightFiles(readGraphModel(bytes));
}

const importerOf = (importNode: TensorflowImporter) => (node: OnnxNode) => {
  if (node instanceof ImportNode) return importNode(new TensorflowNode(node));
  throw new Error('internal: a node of another importer');
};

const OWN: Importers[string] = Object.fromEntries(
  Object.entries(TENSORFLOW_OPERATORS).map(([name, { makes, import: importNode }]) => [
    name,
    { since: 1, makes, import: importerOf(importNode) },
  ]),
);

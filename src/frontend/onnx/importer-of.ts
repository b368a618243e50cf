import type { NodeImporter } from './import-node.ts';
import { canonicalDomain, MICROSOFT } from './operator-sets.ts';
import { MICROSOFT_IMPORTERS, ONNX_IMPORTERS } from './operators/index.ts';

const IMPORTERS: ReadonlyMap<string, ReadonlyMap<string, NodeImporter>> = new Map([
  ['', ONNX_IMPORTERS],
  [MICROSOFT, MICROSOFT_IMPORTERS],
]);

/** The importer function of an operator, undefined where Weft does not have it. */
export function importerOf(domain: string | undefined, opType: string): NodeImporter | undefined {
  return IMPORTERS.get(canonicalDomain(domain))?.get(opType);
}

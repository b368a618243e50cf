import type { NodeImporter } from './import-node.ts';
import { canonicalDomain } from './operator-sets.ts';
import { IMPORTERS } from './operators/index.ts';

/** The importer function of an operator, undefined where Weft does not have it. */
export function importerOf(domain: string | undefined, opType: string): NodeImporter | undefined {
  return IMPORTERS.get(canonicalDomain(domain))?.get(opType)?.import;
}

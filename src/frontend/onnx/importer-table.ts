import { UsageError } from '../../core/errors.ts';
import type { Operators } from '../../ops/operators.ts';
import type { NodeImporter } from './import-node.ts';
import { nodeFunctionImporter } from './functions/import-node-function.ts';
import type { NodeFunctions } from './functions/node-functions.ts';
import type { Importers } from './importers.ts';
import { canonicalDomain } from './model/operator-sets.ts';
import { IMPORTERS } from './operators/index.ts';

export interface ImporterTable {
  /** The importer function of an operator, undefined where there is none. */
  find(domain: string | undefined, opType: string | undefined): NodeImporter | undefined;
}

/**
 * Weft's own importers and those that were passed in. Throws UsageError, which names the importer, for one
 * that Weft has, and for one of an operator that the table does not have.
 */
export function importerTable(
  own: Importers | undefined,
  operators: Operators,
  functions: NodeFunctions,
): ImporterTable {
  const added = new Map<string, NodeImporter>();
  for (const [domain, importers] of Object.entries(own ?? {})) {
    for (const [opType, importer] of Object.entries(importers)) {
      checkImporter({ domain, opType, makes: importer.makes }, operators);
      added.set(keyOf(domain, opType), importer.import);
    }
  }
  functions.requireNew((domain, opType) => {
    const isKnown = IMPORTERS.get(canonicalDomain(domain))?.has(opType) === true;
    return isKnown || added.has(keyOf(domain, opType));
  });
  return {
    find(domain, opType = '') {
      const importer =
        IMPORTERS.get(canonicalDomain(domain))?.get(opType)?.import ??
        added.get(keyOf(domain, opType));
      const called = importer === undefined ? functions.find(domain, opType) : undefined;
      return called === undefined ? importer : nodeFunctionImporter(called);
    },
  };
}

interface NamedImporter {
  readonly domain: string;
  readonly opType: string;
  readonly makes: string;
}

function checkImporter({ domain, opType, makes }: NamedImporter, operators: Operators): void {
  const name = canonicalDomain(domain);
  const where = `importer of ${name === '' ? opType : `${name}.${opType}`}`;
  if (IMPORTERS.get(name)?.has(opType) === true) {
    throw new UsageError({ where, got: 'a second one', expected: 'operators that Weft lacks' });
  }
  const missing = makes.split(' ').find((made) => made !== '' && !operators.has(made));
  if (missing === undefined) return;
  throw new UsageError({
    where,
    got: `operator ${missing}, which it makes`,
    expected: 'operators of the table',
    remedy: 'Pass it: operators: new Operators([...coreOperators, mine]).',
  });
}

function keyOf(domain: string | undefined, opType: string): string {
  return JSON.stringify([canonicalDomain(domain), opType]);
}

import { parseArgs } from 'node:util';
import { PEERS, type Peer } from './cases/bench-case.ts';

export interface BenchOptions {
  readonly peers: readonly Peer[];
  readonly cases: RegExp;
  readonly json: string | undefined;
  readonly adapter: 'software' | 'hardware';
  /** Warm runs of each runtime at most. */
  readonly runs: number;
  readonly isWritten: boolean;
}

export const USAGE = `npm run bench -- [OPTIONS]
  --peers LIST      of ${PEERS.join(',')}; none for Weft alone (default: all)
  --case RE         cases whose name matches
  --runs N          warm runs of each runtime at most (default 15)
  --adapter KIND    software (SwiftShader, the default) or hardware
  --json FILE       write all figures there too
  --write           put the tables into docs/performance.md`;

/** Throws an Error that says what is wrong. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peers: { type: 'string', default: PEERS.join(',') },
      case: { type: 'string', default: '' },
      runs: { type: 'string', default: '15' },
      adapter: { type: 'string', default: 'software' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const { adapter } = values;
  if (adapter !== 'software' && adapter !== 'hardware') {
    throw new Error(`--adapter is software or hardware, not ${adapter}`);
  }
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs is no count: ${values.runs}`);
  return {
    peers: parsePeers(values.peers),
    cases: new RegExp(values.case),
    json: values.json,
    adapter,
    runs,
    isWritten: values.write,
  };
}

function parsePeers(list: string): Peer[] {
  const names = list.split(',').filter((name) => name !== '' && name !== 'none');
  const unknown = names.filter((name) => !PEERS.some((peer) => peer === name));
  if (unknown.length > 0) {
    throw new Error(`--peers has no ${unknown.join(', ')}; there are ${PEERS.join(', ')}`);
  }
  return PEERS.filter((peer) => names.includes(peer));
}

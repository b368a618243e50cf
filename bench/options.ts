import { parseArgs } from 'node:util';
import { type BenchDevice, DEVICES, PEERS, type Peer } from './cases/bench-case.ts';
import { METHODS } from './methods.ts';

export interface BenchOptions {
  readonly device: BenchDevice;
  /** Of each runtime, on the processor. */
  readonly threads: number;
  /** True if pages are cross-origin isolated, without which peers have one thread. */
  readonly isIsolated: boolean;
  readonly peers: readonly Peer[];
  readonly cases: RegExp;
  readonly json: string | undefined;
  readonly adapter: 'software' | 'hardware';
  /** Warm runs of each runtime at most. */
  readonly runs: number;
  readonly isWritten: boolean;
}

export const USAGE = `npm run bench -- [OPTIONS]
  --device NAME     of Weft and the peers: ${DEVICES.join(' or ')} (default webgpu)
  --threads N       of each runtime, with --device wasm (default 1); several in an isolated page
  --apart           several threads in a page that is not isolated
  --peers LIST      of ${PEERS.join(',')}; none for Weft alone (default: all)
  --case RE         cases whose name matches
  --runs N          warm rounds of each runtime at most (default 15, with --device wasm 20)
  --adapter KIND    software (SwiftShader, the default) or hardware
  --json FILE       write all figures there too
  --write           put the tables into docs/performance.md`;

/** Throws an Error that says what is wrong. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: 'string', default: 'webgpu' },
      threads: { type: 'string', default: '1' },
      apart: { type: 'boolean', default: false },
      peers: { type: 'string', default: PEERS.join(',') },
      case: { type: 'string', default: '' },
      runs: { type: 'string' },
      adapter: { type: 'string', default: 'software' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const { adapter } = values;
  if (adapter !== 'software' && adapter !== 'hardware') {
    throw new Error(`--adapter is software or hardware, not ${adapter}`);
  }
  const device = DEVICES.find((name) => name === values.device);
  if (device === undefined) {
    throw new Error(`--device is ${DEVICES.join(' or ')}, not ${values.device}`);
  }
  const threads = parseCount('--threads', values.threads);
  if (threads > 1 && device !== 'wasm') throw new Error('--threads is for --device wasm');
  const { runs } = values;
  return {
    device,
    threads,
    isIsolated: threads > 1 && !values.apart,
    peers: parsePeers(values.peers),
    cases: new RegExp(values.case),
    json: values.json,
    adapter,
    runs: runs === undefined ? METHODS[device].rounds : parseCount('--runs', runs),
    isWritten: values.write,
  };
}

function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${option} is no count: ${text}`);
  return count;
}

function parsePeers(list: string): Peer[] {
  const names = list.split(',').filter((name) => name !== '' && name !== 'none');
  const unknown = names.filter((name) => !PEERS.some((peer) => peer === name));
  if (unknown.length > 0) {
    throw new Error(`--peers has no ${unknown.join(', ')}; there are ${PEERS.join(', ')}`);
  }
  return PEERS.filter((peer) => names.includes(peer));
}

import { parseArgs } from 'node:util';
import { DEVICES, PEERS, type Peer } from './cases/bench-case.ts';
import { METHODS } from './methods.ts';

export type BenchOptions = ReturnType<typeof parseOptions>;

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
export function parseOptions(args: readonly string[]) {
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
  const device = DEVICES.find((name) => name === values.device);
  if (device === undefined) {
    throw new Error(`--device is ${DEVICES.join(' or ')}, not ${values.device}`);
  }
  const threads = parseCount('--threads', values.threads);
  if (threads > 1 && device !== 'wasm') throw new Error('--threads is for --device wasm');
  const { runs } = values;
  return {
    device,
    /** Of each runtime, on the processor. */
    threads,
    /** True if pages are cross-origin isolated, without which peers have one thread. */
    isIsolated: threads > 1 && !values.apart,
    peers: parsePeers(values.peers),
    cases: new RegExp(values.case),
    json: values.json,
    adapter: parseAdapter(values.adapter),
    /** Warm runs of each runtime at most. */
    runs: runs === undefined ? METHODS[device].rounds : parseCount('--runs', runs),
    isWritten: values.write,
  };
}

/** Throws an Error for another word. */
export function parseAdapter(word: string): 'software' | 'hardware' {
  if (word === 'software' || word === 'hardware') return word;
  throw new Error(`--adapter is software or hardware, not ${word}`);
}

/** What `parse` gives of the arguments; undefined where it throws, after saying why. */
export function parsed<Options>(usage: string, parse: () => Options): Options | undefined {
  try {
    return parse();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
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

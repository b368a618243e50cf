import type { ContestantName } from '../page/contestant.ts';

/** Results of one race: milliseconds by contestant and title. */
export interface Measured {
  readonly name: string;
  readonly type: string;
  readonly contestants: readonly ContestantName[];
  readonly figures: ReadonlyMap<string, readonly number[]>;
}

/** How many times as fast as the peer decoding has to be at the last position, in the better precision. */
const TARGETS: Readonly<Record<string, number>> = { wllama: 1, webgpu: 2 };

const TITLES: Readonly<Record<string, string>> = {
  wllama: 'GGUF on wasm, one thread',
  wasm: 'ONNX on wasm, one thread',
  webgpu: 'ONNX on WebGPU',
};

const NAMES: Readonly<Record<ContestantName, string>> = {
  weft: 'Weft',
  'weft-fast': "Weft, `precision: 'fast'`",
  wllama: 'wllama',
  onnxruntime: 'onnxruntime-web',
};

/** A row for each contestant; ratios are the peer's time over the contestant's. */
export function speedTable(measured: readonly Measured[]): string {
  const lines = [
    '| | weights | | prefill ms a token | decode 64 ms | decode 1024 ms |',
    '|---|---|---|---|---|---|',
  ];
  for (const race of measured) {
    for (const [i, contestant] of race.contestants.entries()) {
      const cells = titlesOf(race).map((title) => {
        const ms = medianOf(race, contestant, title) / tokensOf(title);
        const isPeer = contestant === peerOf(race);
        const ratio = medianOf(race, peerOf(race), title) / tokensOf(title) / ms;
        return isPeer ? figure(ms) : `${figure(ms)} (${ratio.toFixed(2)}x)`;
      });
      const about = i === 0 ? [TITLES[race.name] ?? race.name, race.type] : ['', ''];
      lines.push(`| ${about.join(' | ')} | ${NAMES[contestant]} | ${cells.join(' | ')} |`);
    }
  }
  return lines.join('\n');
}

/** Races where Weft is not as much faster than its peer as it has to be. */
export function missedTargets(measured: readonly Measured[]): string[] {
  return measured.flatMap((race) => {
    const target = TARGETS[race.name];
    if (target === undefined) return [];
    const decoding = titlesOf(race).filter((title) => title.startsWith('decode'));
    const counted = race.name === 'webgpu' ? decoding.slice(-1) : decoding;
    return counted.flatMap((title) => {
      const own = race.contestants.filter((contestant) => contestant !== peerOf(race));
      const best = Math.min(...own.map((contestant) => medianOf(race, contestant, title)));
      const ratio = medianOf(race, peerOf(race), title) / best;
      if (ratio >= target) return [];
      return [`${TITLES[race.name]}, ${race.type}, ${title}: ${ratio.toFixed(2)}x of ${target}x`];
    });
  });
}

/** Tokens that a figure is of. */
const tokensOf = (title: string): number =>
  title.startsWith('prefill') ? Number(title.split(' ')[1]) : 1;

/** The last one. */
function peerOf({ contestants }: Measured): ContestantName {
  const peer = contestants.at(-1);
  if (peer === undefined) throw new Error('internal: a race of nobody');
  return peer;
}

function titlesOf(race: Measured | undefined): string[] {
  const titles = [...(race?.figures.keys() ?? [])].map((key) => key.slice(key.indexOf(' ') + 1));
  return [...new Set(titles)];
}

function medianOf({ figures }: Measured, contestant: ContestantName, title: string): number {
  const all = (figures.get(`${contestant} ${title}`) ?? []).toSorted((a, b) => a - b);
  return all[Math.floor(all.length / 2)] ?? Number.NaN;
}

const figure = (ms: number): string => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0));

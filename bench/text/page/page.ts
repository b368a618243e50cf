import type { SpeedPrompt } from '../speed/prompts.ts';
import type {
  Contestant,
  ContestantName,
  ContestantRequest,
  StartContestant,
} from './contestant.ts';
import { startOnnxRuntime } from './onnxruntime.ts';
import { startWeft } from './weft.ts';
import { startWllama } from './wllama.ts';

const STARTS: Readonly<Record<ContestantName, StartContestant>> = {
  weft: startWeft('full'),
  'weft-fast': startWeft('fast'),
  wllama: startWllama,
  onnxruntime: startOnnxRuntime,
};

const started = new Map<ContestantName, Contestant>();

/** Functions that the terminal calls in the page, one contestant at a time. */
const steps = {
  async start(name: ContestantName, request: ContestantRequest): Promise<void> {
    started.set(name, await STARTS[name](request));
  },
  prefill: (name: ContestantName, prompt: SpeedPrompt) => contestant(name).prefill(prompt),
  decode: (name: ContestantName, prompt: SpeedPrompt, count: number) =>
    contestant(name).decode(prompt, count),
};

function contestant(name: ContestantName): Contestant {
  const found = started.get(name);
  if (found === undefined) throw new Error(`internal: ${name} was not started`);
  return found;
}

type SpeedSteps = typeof steps;

declare global {
  var speed: SpeedSteps;
}
globalThis.speed = steps;

import {
  type LoadOptions,
  type LoadProgress,
  type ResumedState,
  Session,
  type SessionSource,
} from '../client/index.ts';
import { formatBytes } from './format-quantity.ts';

type Requested = NonNullable<LoadOptions['device']>;

const DEVICES: readonly Requested[] = ['webgpu', 'wasm', 'host'];

/** The device that the page's address asks for, such as `?device=wasm`. */
export function requestedDevice(): Requested {
  const asked = new URLSearchParams(location.search).get('device');
  return DEVICES.find((device) => device === asked) ?? 'auto';
}

/** The page shows WebGPU, in software too: `auto` would run its small programs on the processor. */
async function shownDevice(): Promise<Requested> {
  const asked = requestedDevice();
  const adapter = asked === 'auto' ? await navigator.gpu?.requestAdapter() : undefined;
  return adapter ? 'webgpu' : asked;
}

type OnStatus = (text: string, progress: LoadProgress) => void;

/** Loads a model on the device that the address asks for, saying how far it is. */
export async function openSession(
  source: SessionSource,
  onStatus: OnStatus,
  signal?: AbortSignal,
): Promise<Session> {
  return Session.load(source, await loadOptions(onStatus, signal));
}

/** Goes on with a snapshot of a model, likewise. */
export async function resumeSession(
  snapshot: Uint8Array,
  executable: SessionSource,
  onStatus: OnStatus,
): Promise<Session & { readonly resumed: ResumedState }> {
  return Session.resume(snapshot, { executable, ...(await loadOptions(onStatus)) });
}

async function loadOptions(onStatus: OnStatus, signal?: AbortSignal): Promise<LoadOptions> {
  return {
    device: await shownDevice(),
    signal,
    onProgress: (progress) => onStatus(describeProgress(progress), progress),
  };
}

const PHASES: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Loading',
  verify: 'Verifying',
  compile: 'Compiling kernels',
  upload: 'Uploading weights',
};

function describeProgress({ phase, loaded, total }: LoadProgress): string {
  const isBytes = phase === 'download' || phase === 'upload';
  const show = (value: number): string => (isBytes ? formatBytes(value) : String(value));
  const of = total === undefined ? '' : ` of ${show(total)}`;
  return `${PHASES[phase]}: ${show(loaded)}${of}`;
}

/** The address of a file in `public/models`. */
export function modelUrl(file: string): string {
  return new URL(`models/${file}`, document.baseURI).href;
}

import {
  type LoadOptions,
  type LoadProgress,
  type ResumedState,
  Session,
  type SessionSource,
} from '../client/index.ts';
import { formatBytes } from './format-quantity.ts';

/** The device that the page's address asks for: `?device=host`, `?device=webgpu`. */
export function requestedDevice(): 'auto' | 'host' | 'webgpu' {
  const asked = new URLSearchParams(location.search).get('device');
  return asked === 'host' || asked === 'webgpu' ? asked : 'auto';
}

type OnStatus = (text: string, progress: LoadProgress) => void;

/** Loads a model on the device that the address asks for, saying how far it is. */
export function openSession(
  source: SessionSource,
  onStatus: OnStatus,
  signal?: AbortSignal,
): Promise<Session> {
  return Session.load(source, loadOptions(onStatus, signal));
}

/** Goes on with a snapshot of a model, likewise. */
export function resumeSession(
  snapshot: Uint8Array,
  executable: SessionSource,
  onStatus: OnStatus,
): Promise<Session & { readonly resumed: ResumedState }> {
  return Session.resume(snapshot, { executable, ...loadOptions(onStatus) });
}

function loadOptions(onStatus: OnStatus, signal?: AbortSignal): LoadOptions {
  return {
    device: requestedDevice(),
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

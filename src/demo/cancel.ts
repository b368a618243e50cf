import { element } from './element.ts';

/** A button that aborts what it stands beside. */
export function cancelButton(abort: AbortController): HTMLButtonElement {
  const button = element('button', { type: 'button' }, 'Cancel');
  button.addEventListener('click', () => abort.abort());
  return button;
}

/** What a promise gives; rejects with the signal's reason where that aborts before, whatever becomes of the promise. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
  ]);
}

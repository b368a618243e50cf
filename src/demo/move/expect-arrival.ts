import type { DemoContext } from '../demo-context.ts';
import type { Parcel } from './parcel.ts';

export interface ArrivalOptions {
  /** The id of the section's panel. */
  readonly section: string;
  readonly context: DemoContext;
  readonly onStatus: (text: string) => void;
}

/**
 * Loads a section with what another page hands over, where the address says so, and tells that page
 * whether it goes on here. Where nothing arrives, the error is shown, and the section begins by
 * itself.
 */
export async function withArrival(
  { section, context, onStatus }: ArrivalOptions,
  load: (parcel?: Parcel) => Promise<void>,
): Promise<void> {
  if (!location.hash.startsWith(`#${section}&`)) return load();
  onStatus('Asks the other page …');
  const { takeArrival } = await import('./take-arrival.ts');
  const arrival = await takeArrival(section).catch((error: unknown) => context.fail(error));
  try {
    await load(arrival ?? undefined);
  } catch (error) {
    arrival?.refuse();
    throw error;
  }
  await arrival?.confirm();
}

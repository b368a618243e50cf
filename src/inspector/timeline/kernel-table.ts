import { html, nothing, type TemplateResult } from 'lit-html';
import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import { formatBytes, formatMs } from '../../core/format-quantity.ts';
import type { RunTimeline } from '../../core/contracts/run-timeline.ts';
import { type KernelLoad, kernelLoads } from './kernel-loads.ts';
import { formatRate } from './run-advice.ts';

interface KernelTableOptions {
  readonly run: RunTimeline;
  readonly runs: readonly RunTimeline[];
  readonly rates: DeviceRates | undefined;
  readonly onKernel: (name: string) => void;
}

/** The kernels of a run: time, work, and the share of what the device was measured at. */
export function kernelTable({
  run,
  runs,
  rates,
  onKernel,
}: KernelTableOptions): TemplateResult | typeof nothing {
  const loads = kernelLoads(run, rates);
  if (loads.length === 0) return nothing;
  const ranges = runs.length > 1 ? rangesOf(runs) : undefined;
  return html`<div class="kernels" role="region" aria-label="Kernels" tabindex="0">
    <h3>Kernels</h3>
    <table>
      <thead>
        <tr>
          <th scope="col">Kernel</th>
          <th scope="col">Calls</th>
          <th scope="col">Time</th>
          ${ranges === undefined ? nothing : html`<th scope="col">In all runs</th>`}
          <th scope="col">FLOP/s</th>
          <th scope="col">Moves</th>
          <th scope="col">B/s</th>
          <th scope="col">Of the device</th>
          <th scope="col">Waits for</th>
        </tr>
      </thead>
      <tbody>
        ${loads.map(
          (load) => html`<tr>
            <td>
              <button type="button" @click=${() => onKernel(load.kernel)}>${load.kernel}</button>
            </td>
            <td>${load.calls}</td>
            <td>${formatMs(load.totalMs)}</td>
            ${ranges === undefined ? nothing : html`<td>${ranges.get(load.kernel) ?? '–'}</td>`}
            <td>${rateOf(load.operations, load, 'FLOP')}</td>
            <td>${load.bytes === undefined ? '–' : formatBytes(load.bytes)}</td>
            <td>${rateOf(load.bytes, load, 'B')}</td>
            <td>${load.share === undefined ? '–' : `${Math.round(load.share * 100)}%`}</td>
            <td>${load.bound ?? '–'}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    <p class="facts">${deviceFacts(rates)}</p>
  </div>`;
}

function rateOf(amount: number | undefined, { totalMs }: KernelLoad, unit: 'B' | 'FLOP'): string {
  if (amount === undefined || totalMs === undefined || totalMs === 0) return '–';
  return amount === 0 ? '0' : formatRate(amount / totalMs, unit);
}

/** The least and the most of the time of each kernel. */
function rangesOf(runs: readonly RunTimeline[]): ReadonlyMap<string, string> {
  const times = new Map<string, number[]>();
  for (const run of runs) {
    for (const { kernel, totalMs } of kernelLoads(run, undefined)) {
      if (totalMs !== undefined) times.set(kernel, [...(times.get(kernel) ?? []), totalMs]);
    }
  }
  const range = (all: readonly number[]): string =>
    `${formatMs(Math.min(...all))} to ${formatMs(Math.max(...all))}`;
  return new Map([...times].map(([kernel, all]) => [kernel, range(all)]));
}

function deviceFacts(rates: DeviceRates | undefined): string {
  if (rates === undefined)
    return 'What this device can do is not measured: it computes with references.';
  const { operationsPerMs, bytesPerMs, launchMs, roundTripMs } = rates;
  return (
    `Measured on this device: ${formatRate(operationsPerMs, 'FLOP')} in a product of matrices, ` +
    `${formatRate(bytesPerMs, 'B')} in an addition of large tensors, ${formatMs(launchMs)} for a small launch, ` +
    `${formatMs(roundTripMs)} for a round trip. More than 100% is faster than these.`
  );
}

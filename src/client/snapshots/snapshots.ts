/** The code that loads with the first snapshot, in one file. */
export { Checkpoints } from './checkpoints.ts';
export { openOpfs } from '../../snapshots/opfs-store.ts';
export { pauseWhenHidden, restore, takeSnapshot } from './session-control.ts';
export { SnapshotSlots } from '../../snapshots/snapshot-slots.ts';

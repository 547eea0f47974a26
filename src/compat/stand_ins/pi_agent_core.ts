/**
 * Stands in for `pi-agent-core`, of which hooks import types alone.
 *
 * @module
 */

export {};

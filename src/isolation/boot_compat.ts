/**
 * The entry of a child whose hook imports the way other hosts do.
 *
 * @module
 */

// In this order: the child's own modules are loaded by now, the hook is not.
import "../compat/register_now.ts";
import "./boot.ts";

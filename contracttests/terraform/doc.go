// Package terraform holds the emulator to what Terraform sees: each configuration
// in testdata is applied, changed in place, imported and destroyed by the real
// terraform and the real provider, without a difference left by any of it.
//
// It runs where CLBEMU_TERRAFORM_PROVIDER names a folder with a built
// terraform-provider-alicloud, and terraform is in the PATH; elsewhere it is
// skipped, and says so.
//
// A configuration is an archive of
//
//	apply.tf   what is applied first
//	change.tf  what it is changed to, if it can be changed
//	ignored    attributes that an import can't read back, a line each with the reason:
//	           alicloud_slb_server_certificate.private_key: the cloud never tells it
//
// and may use the variables of the test: var.server_certificate, var.private_key,
// var.other_certificate, var.other_key, var.ca_certificate.
package terraform

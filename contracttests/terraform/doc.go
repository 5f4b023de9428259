// Package terraform tests the emulator with Terraform: the real terraform and the real
// provider apply, change in place, import and destroy each configuration in testdata,
// and no difference may remain.
//
// It runs where CLBEMU_TERRAFORM_PROVIDER names a folder with a built
// terraform-provider-alicloud, and terraform is in the PATH; elsewhere it is
// skipped, and says so. With -update it keeps what the provider sent with calls that change
// something, in testdata/terraform.txt of the folder above: elsewhere, tests prove that no
// such parameter is refused.
//
// A configuration is an archive of
//
//	year       the cloud's, for load balancers that are no longer sold; today's if there is none
//	apply.tf   what is applied first
//	change.tf  what it is changed to, if it can be changed
//	ignored    attributes that an import can't read back, a line each with the reason:
//	           alicloud_slb_server_certificate.private_key: the cloud never tells it
//
// and may use the variables of the test: var.server_certificate, var.private_key,
// var.other_certificate, var.other_key, var.ca_certificate.
package terraform
